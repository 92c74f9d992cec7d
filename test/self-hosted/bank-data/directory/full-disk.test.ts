import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tDisk, whyNoMount } from '../../../support/disk.ts';
import { tBanks, tImport, tSampleFile } from '../../../support/self-hosted/bank-data/directory/command-line.ts';
import { tSample } from '../../../support/self-hosted/bank-data/directory/samples.ts';
import { tFolder } from '../../../support/stores/folder.ts';

describe.skipIf(whyNoMount)(`an import on a full disk${whyNoMount}`, () => {
  it.each([0, 8, 12, 28])('is refused with a message, and can be repeated, with %i kB free', async (freeKb) => {
    const path = await tSampleFile(tFolder(), tSample('LI'));
    const disk = tDisk(freeKb);
    const refused = await tImport(disk, 'LI', path, '--force').ended;
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toMatch(/disk is full|No space|ENOSPC/);
    rmSync(join(disk, 'other'));
    expect((await tImport(disk, 'LI', path, '--force').ended).code).toBe(0);
    expect(await tBanks(disk, 'LI')).not.toEqual([]);
  });
});
