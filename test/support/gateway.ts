import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { onTestFinished } from 'vitest';
import { createBankLists } from '../../src/banks/bank-lists.ts';
import { createKnownBanks } from '../../src/banks/known-banks.ts';
import type { Environment } from '../../src/base/variables/read-variables.ts';
import { readConfig } from '../../src/gateway/config/read-config.ts';
import { createGateway } from '../../src/gateway/gateway.ts';
import type { UpstreamLimits } from '../../src/gateway/upstream/upstream-client.ts';
import { tCaller } from './gateway/callers.ts';
import { tFetch } from './gateway/graphql/graphql-server.ts';
import type { OnFinished } from './process.ts';
import { type Reply, tUpstream } from './scripted-upstream.ts';

export const bankDataKey = 'seeded-bank-data-key-b1';
export const essaysKey = 'seeded-essays-key-e2';

interface Data {
  [field: string]: Data;
}

export interface Answer {
  data?: Data;
  errors?: { message: string; path?: (string | number)[]; locations?: object[]; extensions: Record<string, unknown> }[];
}

interface TGatewayOptions {
  bankDataUrl?: string;
  essaysUrl?: string;
  /** Where the key of the bank-data service is read again. */
  bankDataKeyFile?: string;
  env?: Environment;
  heartbeatMs?: number;
  upstreamLimits?: Partial<UpstreamLimits>;
  addMcpTools?: NonNullable<Parameters<typeof createGateway>[2]>['addMcpTools'];
  /** Folder with imported lists; without it, only those in packages are used. */
  importsDir?: string;
  onFinished?: OnFinished;
}

/** A gateway for these upstreams, with known keys and a readable log. It listens only if `listen` is called. */
export function tGateway({
  bankDataUrl = unused,
  essaysUrl = unused,
  bankDataKeyFile,
  env = {},
  heartbeatMs,
  upstreamLimits,
  addMcpTools,
  importsDir,
  onFinished = onTestFinished,
}: TGatewayOptions = {}) {
  const dataDir = join(tmpdir(), `ledgerquill-${randomUUID()}`);
  const lines: string[] = [];
  const destination = new PassThrough();
  destination.on('data', (line) => lines.push(String(line)));
  // A small cache is created sooner.
  const config = readConfig({ ...testEnv, DATA_DIR: dataDir, ...env });
  const gateway = createGateway(
    config,
    {
      bankData: { url: bankDataUrl, apiKey: bankDataKey, apiKeyFile: bankDataKeyFile },
      essays: { url: essaysUrl, apiKey: essaysKey },
    },
    {
      logDestination: destination,
      knownBanks: importsDir === undefined ? knownBanks : createKnownBanks(createBankLists({ dataDir: importsDir })),
      ...(heartbeatMs && { heartbeatMs }),
      upstreamLimits: { backoffMs: 0, ...upstreamLimits },
      ...(addMcpTools && { addMcpTools }),
    },
  );
  onFinished(async () => {
    await gateway.close();
    rmSync(dataDir, { recursive: true, force: true });
  });

  const { commonScopes, anonymousScopes } = config.access;
  const scopes = new Set([...commonScopes, ...(anonymousScopes ?? []), 'bank-data', 'essays'] as const);
  const fetch = tFetch(gateway.graphql.answer, { ...tCaller, scopes });

  /** Sends a POST request without HTTP, which is answered as that of an ordinary client. @param body JSON, or an object that becomes JSON */
  const post = (body: object | string, headers: Record<string, string> = {}, signal?: AbortSignal) =>
    fetch('http://gateway/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
      ...(signal && { signal }),
    });

  return {
    ...gateway,
    graphql: { ...gateway.graphql, fetch },
    log: () => lines.join(''),
    postLocally: post,
    async ask(query: string, variables: Record<string, unknown> = {}, signal?: AbortSignal): Promise<Answer> {
      return (await (await post({ query, variables }, {}, signal)).json()) as Answer;
    },
  };
}

/** A gateway with one scripted upstream for both services. */
export async function tScriptedGateway(reply?: Reply, env: Environment = {}) {
  const upstream = await tUpstream(reply);
  return { upstream, ...tGateway({ bankDataUrl: upstream.url, essaysUrl: upstream.url, env }) };
}

const testEnv = { LOG_LEVEL: 'trace', PORT: '0', CACHE_MAX_MB: '4' };

/** Read once for all gateways of a worker. */
const knownBanks = createKnownBanks(createBankLists());

/** Port 9 (discard): without a given upstream, every call fails. */
const unused = 'http://127.0.0.1:9';
