// cspell:ignore setpriv reuid regid privs

import { chmodSync, chownSync, readFileSync, statSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { tFolder } from '../support/gateway/stores/folder.ts';
import { tGatewayProcess, tProcess, untilReady, whyMissing } from '../support/process.ts';

/* The settings of the image and the chart, on hosts of other kinds. */

const query = '{ ibanValidation(iban: "DE89370400440532013000") { valid } }';
const allAddresses = { HOST: '::', METRICS_HOST: '::', METRICS_PORT: '0' };
const whyNotRoot = process.getuid?.() === 0 ? '' : ': only root may do that';

describe('a gateway on all addresses', () => {
  it('is reached by IPv4 and, where there is one, by IPv6', async () => {
    const { ask, origin, metricsUrl } = await tGatewayProcess(allAddresses);
    expect(await ask(query)).toEqual({ ibanValidation: { valid: true } });
    const hasIpv6 = statSync('/proc/net/if_inet6', { throwIfNoEntry: false }) !== undefined;
    for (const host of ['127.0.0.1', ...(hasIpv6 ? ['[::1]'] : [])]) {
      for (const url of [`${origin}/health`, metricsUrl ?? '']) {
        expect((await fetch(url.replace('localhost', host))).status, host).toBe(200);
      }
    }
  });

  const whyNoNetwork = whyNotRoot || whyMissing('unshare', 'util-linux');

  it.skipIf(whyNoNetwork)(`needs no IPv6 where there is none${whyNoNetwork}`, async () => {
    const command = `echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6 && exec ${process.execPath} dist/main.js`;
    const gateway = await untilReady(
      tProcess('unshare', ['--net', 'sh', '-euc', command], { PORT: '0', ...allAddresses }),
    );
    // The sockets of IPv4 in the network of the process: local address, and 0A for listening.
    const sockets = readFileSync(`/proc/${gateway.process.pid}/net/tcp`, 'utf8');
    const ports = [gateway.origin, gateway.metricsUrl ?? ''].map((url) => Number(new URL(url).port));
    for (const port of ports) {
      expect(sockets).toMatch(
        new RegExp(` 00000000:${port.toString(16).toUpperCase().padStart(4, '0')} 00000000:0000 0A `),
      );
    }
  });
});

const whyNoUser = whyNotRoot || whyMissing('setpriv', 'util-linux');

it.skipIf(whyNoUser)(
  `runs as any user of group 0, as on OpenShift, in the data folder of the image${whyNoUser}`,
  async () => {
    const [, owner = '', group = '', mode = ''] =
      /mkdir \.data && chown (\w+):(\w+) \.data && chmod (\d+) \.data/.exec(readFileSync('Dockerfile', 'utf8')) ?? [];
    expect([owner, group]).toEqual(['node', 'root']);
    const dataDir = tFolder();
    chownSync(dataDir, 1_000, 0);
    chmodSync(dataDir, Number.parseInt(mode, 8));
    const anyUser = ['--reuid', '1000680000', '--regid', '0', '--clear-groups', '--no-new-privs'];
    const gateway = await untilReady(
      tProcess('setpriv', [...anyUser, process.execPath, 'dist/main.js'], { PORT: '0', DATA_DIR: dataDir, HOME: '/' }),
    );
    await gateway.order('Pens', 'form-1');
    expect(statSync(`${dataDir}/store-1.lmdb`).uid).toBe(1_000_680_000);
  },
);
