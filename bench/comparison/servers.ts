import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { apiKey } from './upstream.ts';
import { workloads } from './workloads.ts';

export interface Server {
  /** A JavaScript file. */
  script: string;
  env: Readonly<Record<string, string>>;
  /** Only these; all by default. */
  workloads?: readonly string[];
}

interface ServerOptions {
  upstreamUrl: string;
  /** Environment of the gateway, in addition. */
  gatewayEnv: Readonly<Record<string, string>>;
}

const root = new URL('../../', import.meta.url);
const peerNames = ['yoga-pothos', 'apollo-server', 'mercurius', 'hive-gateway'] as const;
export const arePeersInstalled = existsSync(new URL('bench/peers/node_modules', root));
export const serverNames = ['limit', 'constant', 'gateway', ...(arePeersInstalled ? peerNames : [])];

/** The servers by name; all of them read the port from PORT. */
export function listServers({ upstreamUrl, gatewayEnv }: ServerOptions): Record<string, Server> {
  const env = { UPSTREAM: upstreamUrl, API_KEY: apiKey };
  const limit = toPath('bench/comparison/limit.js');
  const constant = JSON.stringify({ data: workloads.W3?.expect([]) });
  const peers = peerNames.map((name) => [name, { script: toPath(`bench/peers/${name}.js`), env }]);
  return {
    limit: { script: limit, env },
    constant: { script: limit, env: { ...env, CONSTANT: constant }, workloads: ['W3'] },
    gateway: {
      script: toPath('dist/main.js'),
      env: {
        BANK_DATA_URL: upstreamUrl,
        BANK_DATA_API_KEY: apiKey,
        ESSAY_URL: upstreamUrl,
        ESSAY_API_KEY: apiKey,
        ...gatewayEnv,
      },
    },
    ...Object.fromEntries(peers),
    // Mesh maps a GraphQL field to a REST call: the service has no call for a list, and no entities.
    'hive-gateway': { script: toPath('bench/peers/hive-gateway.js'), env, workloads: ['W1', 'W3', 'W4'] },
  };
}

function toPath(file: string): string {
  return fileURLToPath(new URL(file, root));
}
