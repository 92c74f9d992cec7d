import { execFileSync } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { replaceImport } from '../../../src/banks/import/replace-import.ts';
import { tBanks, tImport, tSampleFile } from '../../support/banks/import/imports.ts';
import { tSample } from '../../support/banks/import/samples.ts';
import { tFolder } from '../../support/gateway/stores/folder.ts';
import { tCommand, tScript } from '../../support/process.ts';

const german = tSample('DE');
const germanRows = (length: number) =>
  Array.from({ length }, (_, number) => (german.rows[0] ?? []).with(0, String(10_000_000 + number)));

describe('killing an import of 10,000 rows', () => {
  async function tImported(): Promise<string> {
    const dataDir = tFolder();
    const entries = [german.bank, { ...german.bank, bankCode: '37040044', name: 'Old' }];
    await replaceImport(dataDir, { country: 'DE', source: 'Old', date: '2026-11-20', entries });
    await replaceImport(dataDir, { country: 'CZ', source: 'Old', date: '2026-11-20', entries: [tSample('CZ').bank] });
    return dataDir;
  }

  /** The old directory is unchanged, and the next import works. */
  async function expectIntact(dataDir: string, before: Awaited<ReturnType<typeof tBanks>>) {
    expect(await tBanks(dataDir, 'DE')).toEqual(before);
    expect(await tBanks(dataDir, 'CZ')).toHaveLength(1);
    const folder = tFolder();
    expect((await tImport(dataDir, 'DE', await tSampleFile(folder, german))).code).toBe(0);
    expect(await tBanks(dataDir, 'DE')).toHaveLength(3);
    expect(await tBanks(dataDir, 'CZ')).toHaveLength(1);
  }

  it('while it reads keeps the old directory', async () => {
    const dataDir = await tImported();
    const before = await tBanks(dataDir, 'DE');
    // A pipe buffers 64 KB: once half of the rows are written to it, nearly all of them were read.
    const pipe = join(tFolder(), 'blz.csv');
    execFileSync('mkfifo', [pipe]);
    const child = tCommand(['import-banks', 'DE', pipe], { DATA_DIR: dataDir });
    const stream = createWriteStream(pipe).on('error', () => {});
    const bytes = await german.encode([...german.top, ...germanRows(5_000)]);
    await new Promise((resolve) => stream.write(bytes, resolve));
    child.kill('SIGKILL');
    expect((await child.ended).signal).toBe('SIGKILL');
    stream.destroy();
    await expectIntact(dataDir, before);
  });

  it('while it writes keeps the old directory, also for concurrent readers', async () => {
    const dataDir = await tImported();
    const before = await tBanks(dataDir, 'DE');
    const child = tScript('test/support/banks/import/child-process.ts', { DATA_DIR: dataDir }, ['half']);
    await child.printed(/half written/);
    expect(await tBanks(dataDir, 'DE')).toEqual(before);
    child.kill('SIGKILL');
    expect((await child.ended).signal).toBe('SIGKILL');
    await expectIntact(dataDir, before);
  });

  it('is not caused by the number of rows: an import of 10,000 succeeds', async () => {
    const dataDir = await tImported();
    const path = await tSampleFile(tFolder(), { ...german, rows: germanRows(10_000) });
    expect((await tImport(dataDir, 'DE', path)).code).toBe(0);
    expect(await tBanks(dataDir, 'DE')).toHaveLength(10_000);
    expect(await tBanks(dataDir, 'CZ')).toHaveLength(1);
  });
});
