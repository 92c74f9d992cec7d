import { randomBytes } from 'node:crypto';
import { setFlagsFromString } from 'node:v8';
import type { Config, UpstreamAccess } from './config/gateway-config.ts';
import { readConfig } from './config/read-config.ts';
import { createGateway } from './gateway.ts';
import { runMain } from './run-main.ts';
import { createLog } from './telemetry/log.ts';
import { createRedact } from './telemetry/redact.ts';

/*
 * The gateway process: reads the configuration, starts the self-hosted services that replace missing upstreams, listens,
 * and stops everything on SIGTERM or SIGINT. It exits when everything is closed. The code of the self-hosted services is
 * loaded only if they are used: it takes 130 ms and 10 MB.
 */

// By default, V8 lets the old generation grow to more than twice its content, which the caches make large.
setFlagsFromString('--heap-growing-percent=15');
await runMain(() => run(readConfig(process.env)));

async function run(config: Config): Promise<void> {
  const { llm, monthlyAllowance } = config.essayService;
  const createServiceLog = (apiKey: string) =>
    createLog({ level: config.logLevel, redact: createRedact([apiKey, llm?.apiKey ?? '']) });
  const bankData = await resolveUpstream(config.bankData.upstream, async (apiKey) => {
    const { createBankDataService } = await import('./self-hosted/bank-data/create-bank-data-service.ts');
    const service = createBankDataService({ apiKey, dataDir: config.dataDir, log: createServiceLog(apiKey) });
    return { service, note: '' };
  });
  const essays = await resolveUpstream(config.essays.upstream, async (apiKey) => {
    const { createEssayService } = await import('./self-hosted/essays/create-essay-service.ts');
    const { createEssayWriter, describeWriter } = await import('./self-hosted/essays/create-essay-writer.ts');
    const writer = createEssayWriter(llm);
    const service = createEssayService({ apiKey, writer, monthlyAllowance, log: createServiceLog(apiKey) });
    return { service, note: `; ${describeWriter(llm)}` };
  });
  const gateway = createGateway(config, { bankData: bankData.access, essays: essays.access });

  const stop = async () => {
    await gateway.close();
    await Promise.all([bankData.close(), essays.close()]);
  };
  process.on('SIGTERM', stop).on('SIGINT', stop);

  const url = await gateway.listen().catch(async (error: unknown) => {
    await stop();
    throw error;
  });
  process.stdout.write(
    [
      'Ledgerquill is ready.',
      `  GraphiQL   ${url}/graphql`,
      `  bank data  ${bankData.description}`,
      `  essays     ${essays.description}`,
      '',
    ].join('\n'),
  );
}

interface ResolvedUpstream {
  access: UpstreamAccess;
  description: string;
  close(): Promise<unknown>;
}

interface Service {
  listen(options: { host: string; port: number }): Promise<string>;
  close(): Promise<unknown>;
}

/** The configured upstream, or the self-hosted service on a free loopback port with a random key. */
async function resolveUpstream(
  upstream: UpstreamAccess | null,
  createService: (apiKey: string) => Promise<{ service: Service; note: string }>,
): Promise<ResolvedUpstream> {
  if (upstream) return { access: upstream, description: upstream.url, close: async () => {} };
  const apiKey = randomBytes(24).toString('base64url');
  const { service, note } = await createService(apiKey);
  const url = await service.listen({ host: '127.0.0.1', port: 0 });
  return { access: { url, apiKey }, description: `self-hosted at ${url}${note}`, close: () => service.close() };
}
