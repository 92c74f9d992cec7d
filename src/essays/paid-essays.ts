import type { Config } from '../config/read-config.ts';
import type { OpenedStore } from '../stores/open-store.ts';
import type { Events } from '../telemetry/events.ts';
import type { Redact } from '../telemetry/redact.ts';
import type { UpstreamClient } from '../upstream/upstream-client.ts';
import { withIdempotency } from './idempotency/idempotency.ts';
import { withOrderPrecheck } from './precheck.ts';
import { createRestEssays } from './rest/rest-essays.ts';

interface PaidEssaysOptions extends Pick<OpenedStore, 'store' | 'onRecovered'> {
  client: UpstreamClient;
  config: Pick<Config, 'essays'>;
  redact: Redact;
  events: Events;
}

/** The essay service behind its precheck and the archive of essays. */
export function createPaidEssays({ client, config, store, onRecovered, redact, events }: PaidEssaysOptions) {
  const { modeNames, textField, keepDays } = config.essays;
  const restEssays = createRestEssays({ client, modeNames, textField, redact, events });
  const { generate, ...essays } = withIdempotency(restEssays, { store, onRecovered, keepDays, events });
  return { ...essays, ...withOrderPrecheck({ generate }, events) };
}
