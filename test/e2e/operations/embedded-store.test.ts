import { readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tDisk, whyNoMount } from '../../support/disk.ts';
import { tFolder } from '../../support/gateway/stores/folder.ts';
import { startLoad } from '../../support/operations/load.ts';
import { playOutage } from '../../support/operations/outage.ts';
import { type Replica, tSite, whyNoSite } from '../../support/operations/site.ts';
import { tCommand } from '../../support/process.ts';

/* A gateway with the embedded store: what clients and operators see of its outages, as docs/incidents.md says. */

describe.skipIf(whyNoSite)(`a gateway with the embedded store${whyNoSite}`, () => {
  it.skipIf(whyNoMount)(`continues while its disk is full${whyNoMount}`, async () => {
    const DATA_DIR = tDisk(8_000, 8_192);
    const site = await tSite({ env: { DATA_DIR }, replicas: 1 });
    const filler = join(DATA_DIR, 'filler');
    await playOutage(site, await startLoad(site), {
      name: 'the disk of the embedded store is full',
      begin: () => {
        const { bavail, bsize } = statfsSync(DATA_DIR);
        writeFileSync(filler, Buffer.alloc(bavail * bsize - 50_000));
      },
      end: () => rmSync(filler),
    });
  });

  it('does not start with a damaged file, and starts with its backup', async () => {
    const [DATA_DIR, backup] = [tFolder(), join(tFolder(), 'backup')];
    const site = await tSite({ env: { DATA_DIR }, replicas: 1 });
    const [gateway] = site.gateways as [Replica];
    const load = await startLoad(site);
    await playOutage(site, load, {
      name: 'the embedded store is damaged, and the only gateway is restarted',
      begin: async () => {
        await gateway.stop();
        expect((await tCommand(['backup', backup], { DATA_DIR }).ended).code).toBe(0);
        damagePages(join(DATA_DIR, 'store-1.lmdb'));
        await expect(gateway.start()).rejects.toThrow('damaged pages');
      },
      end: async () => {
        expect((await tCommand(['restore', backup, '--replace'], { DATA_DIR }).ended).code).toBe(0);
        await gateway.start();
      },
    });
  });
});

const pageBytes = 4_096;

/** Overwrites all pages but the first two, which have the sizes and the roots of the trees. */
function damagePages(file: string): void {
  const bytes = readFileSync(file);
  writeFileSync(file, bytes.fill(0xff, 2 * pageBytes));
}
