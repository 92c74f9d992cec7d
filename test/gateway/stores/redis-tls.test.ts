import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tFolder } from '../../support/gateway/stores/folder.ts';
import { createCertificate, tFreePort, trust } from '../../support/loopback.ts';
import { tRedisProcess, tRedisStore, untilResponse, whyNoRedis, withClient } from '../../support/redis.ts';

const hour = { expiresInMs: 3_600_000 };

describe.skipIf(whyNoRedis)(`TLS to Redis${whyNoRedis}`, () => {
  it('is used to a server, whose certificate must be trusted', async () => {
    const { port, trustIt } = await tTlsRedis();
    const { store, expectEvents } = tRedisStore(`rediss://localhost:${port}`);
    await expectEvents(['down: DEPTH_ZERO_SELF_SIGNED_CERT']);
    trustIt();
    await expectEvents(['down: DEPTH_ZERO_SELF_SIGNED_CERT', 'up']);
    await store.set('key', 'value', hour);
  });

  it('is used to the Sentinels and to the master', async () => {
    const { port, tlsArgs, trustIt } = await tTlsRedis();
    const config = join(tFolder(), 'sentinel.conf');
    // Certificates contain host names.
    const lines = ['resolve-hostnames yes', 'announce-hostnames yes', `monitor main localhost ${port} 1`];
    writeFileSync(config, lines.map((line) => `sentinel ${line}\n`).join(''));
    const sentinelPort = await tFreePort();
    const args = [...tlsArgs, '--tls-port', String(sentinelPort), '--tls-replication', 'yes'];
    await tRedisProcess([config, '--sentinel', ...args]);
    trustIt();
    await expectWorking(`rediss-sentinel://localhost:${sentinelPort}#main`);
  });

  it('is used to the nodes of a cluster', async () => {
    const name = ['--cluster-announce-hostname', 'localhost', '--cluster-preferred-endpoint-type', 'hostname'];
    const busPort = String(await tFreePort());
    const cluster = ['--cluster-enabled', 'yes', '--cluster-port', busPort, '--tls-cluster', 'yes', ...name];
    const { redis, port, trustIt } = await tTlsRedis(cluster);
    await withClient(redis, (client) => client.call('cluster', 'addslotsrange', 0, 16_383));
    await untilResponse(redis, ['cluster', 'info'], /cluster_state:ok/);
    trustIt();
    await expectWorking(`rediss-cluster://localhost:${port}`);
  });
});

/** A Redis server with a port for TLS, and the arguments with which another one has the same certificate, for localhost. */
async function tTlsRedis(args: readonly string[] = []) {
  const certificate = await createCertificate();
  const folder = tFolder();
  const tlsArgs = ['--tls-auth-clients', 'no', '--tls-ca-cert-file', join(folder, 'cert')];
  for (const name of ['cert', 'key'] as const) {
    writeFileSync(join(folder, name), certificate[name]);
    tlsArgs.push(`--tls-${name}-file`, join(folder, name));
  }
  const port = await tFreePort();
  const redis = await tRedisProcess([...tlsArgs, '--tls-port', String(port), ...args]);
  return { redis, port, tlsArgs, trustIt: () => trust(certificate) };
}

async function expectWorking(url: string) {
  const { store } = tRedisStore(url);
  await store.set('key', 'value', hour);
  expect(await store.get('key')).toBe('value');
}
