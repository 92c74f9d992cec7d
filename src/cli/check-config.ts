import { PassThrough } from 'node:stream';
import type { Config, UpstreamAccess } from '../config/gateway-config.ts';
import { listValues } from '../config/list-values.ts';
import { readConfig } from '../config/read-config.ts';
import type { RedisConfig } from '../config/redis-url.ts';
import { findUnknownVariables } from '../config/unknown-variables.ts';
import { knownVariables } from '../config/variables.ts';
import { ConfigError } from '../errors.ts';
import { createGateway } from '../gateway.ts';
import { checkDataFolder } from '../stores/data-folder.ts';
import { createRedisConnection } from '../stores/redis-connection.ts';
import { type ProbeResult, probeServer } from './probe-server.ts';

/**
 * Prints the configuration with its secrets masked, then checks what the start of the gateway checks, and connects to
 * the upstreams and to Redis. No paid call is made. The exit code is 1 if something is wrong.
 */
export async function checkConfig(dotenvNames: ReadonlySet<string>): Promise<void> {
  const config = readConfig(process.env);
  const values = listValues(config, process.env, dotenvNames);
  const width = Math.max(...values.map(({ name }) => name.length));
  const lines = values.map(({ name, value, source }) => {
    return `  ${name.padEnd(width)}  ${value === '' ? '(not set)' : `${value}  (${source})`}`;
  });
  const unknown = findUnknownVariables(knownVariables, process.env);
  print(['Configuration', ...lines, ...unknown.map((name) => `  unknown and ignored: ${name}`), 'Checks']);

  const results = [await checkFiles(config), ...(await Promise.all(probeAll(config)))];
  print(results.map(({ isOk, description }) => `  ${isOk ? 'ok    ' : 'FAILED'}  ${description}`));
  if (results.some(({ isOk }) => !isOk)) process.exitCode = 1;
}

function print(lines: readonly string[]): void {
  process.stdout.write(`${lines.join('\n')}\n`);
}

/** Creating the gateway reads all files. It does not listen, and makes no calls. */
async function checkFiles(config: Config): Promise<ProbeResult> {
  const unused = { url: 'http://127.0.0.1:9', apiKey: 'not-used' };
  const { bankData, essays, store } = config;
  const upstreams = { bankData: bankData.upstream ?? unused, essays: essays.upstream ?? unused };
  const logDestination = new PassThrough().resume();
  try {
    if (store.redis === null) checkDataFolder(config.dataDir);
    await createGateway(config, upstreams, { logDestination }).close();
    const use = store.redis === null ? 'files can be created in it' : 'not written to, because REDIS_URL is set';
    return { isOk: true, description: `DATA_DIR: ${use}` };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { isOk: false, description: error.problems.join('; ') };
  }
}

function probeAll({ bankData, essays, essayService: { llm }, access: { jwt }, traces, store: { redis } }: Config) {
  const jwksUrl = jwt && 'url' in jwt.keys ? jwt.keys.url : null;
  return [
    probeUpstream('BANK_DATA_URL', bankData.upstream),
    probeUpstream('ESSAY_URL', essays.upstream),
    ...(llm ? [probe('LLM_URL', llm.url)] : []),
    ...(jwksUrl === null ? [] : [probe('JWT_JWKS_URL', jwksUrl)]),
    ...(traces ? [probe('OTEL_EXPORTER_OTLP_ENDPOINT', traces.url)] : []),
    ...(redis ? [pingRedis(redis)] : []),
  ];
}

async function probeUpstream(variable: string, upstream: UpstreamAccess | null): Promise<ProbeResult> {
  if (upstream) return probe(variable, upstream.url);
  return { isOk: true, description: `${variable}: not set, the self-hosted service starts with the gateway` };
}

async function probe(variable: string, url: string): Promise<ProbeResult> {
  const { isOk, description } = await probeServer(url);
  return { isOk, description: `${variable}: ${description}` };
}

async function pingRedis(server: RedisConfig): Promise<ProbeResult> {
  let reason = '';
  const storeDown = (text: string) => {
    reason ||= text;
  };
  const connection = createRedisConnection({ server, commandTimeoutMs: 3_000, events: { storeDown, storeUp() {} } });
  try {
    await connection.run((redis) => redis.ping());
    return { isOk: true, description: `REDIS_URL: ${server.host} responded to PING` };
  } catch (error) {
    reason ||= error instanceof Error ? error.message : String(error);
    return { isOk: false, description: `REDIS_URL: ${server.host}:${server.port} did not respond to PING (${reason})` };
  } finally {
    await connection.close();
  }
}
