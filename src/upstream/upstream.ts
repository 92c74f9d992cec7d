import type { ServiceName } from '../errors.ts';
import type { Store } from '../stores/store.ts';
import type { Events } from '../telemetry/events.ts';
import { createSecretRedaction } from '../telemetry/redact.ts';
import { createAllowance } from './allowance/allowance.ts';
import { createUpstreamClient } from './upstream-client.ts';

interface UpstreamFactoryOptions {
  config: {
    maxResponseBytes: number;
    upstreamConcurrency: number;
    upstreamQueue: number;
    retryBackoffMs: number;
  };
  store: Store;
  /** Number of processes that share the store; null: it is not shared. */
  replicas: number | null;
  /** Removed from all responses. */
  secrets: readonly string[];
  events: Events;
}

interface UpstreamSettings {
  /** Null: the self-hosted service, which the process starts. */
  upstream: object | null;
  timeoutMs: number;
  monthlyAllowance: number | null;
}

/** Creates the client of each service, and its allowance, with what they have in common. */
export function createUpstreamFactory({ config, store, replicas, secrets, events }: UpstreamFactoryOptions) {
  const redactSecrets = createSecretRedaction(secrets);
  return (
    service: ServiceName,
    { url: baseUrl, apiKey }: { url: string; apiKey: string },
    keyHeader: string,
    { upstream, timeoutMs, monthlyAllowance: limit }: UpstreamSettings,
  ) => {
    const allowance = createAllowance({ service, limit, store, replicas, events });
    const client = createUpstreamClient({
      service,
      baseUrl,
      headers: { [keyHeader]: apiKey, accept: 'application/json' },
      isSelfHosted: upstream === null,
      timeoutMs,
      maxResponseBytes: config.maxResponseBytes,
      maxConcurrency: config.upstreamConcurrency,
      maxQueue: config.upstreamQueue,
      backoffMs: config.retryBackoffMs,
      allowance,
      redactSecrets,
      events,
    });
    return { url: baseUrl, client, allowance };
  };
}
