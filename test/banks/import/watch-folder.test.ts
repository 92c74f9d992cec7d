import { renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { watchFolder } from '../../../src/banks/import/import-banks.ts';
import { tBanks, tImport, tSampleFile } from '../../support/banks/import/command-line.ts';
import { tFile } from '../../support/banks/import/sample.ts';
import { tSample } from '../../support/banks/import/samples.ts';
import { tFolder } from '../../support/gateway/stores/folder.ts';
import { tCommand } from '../../support/process.ts';

/** Watches a folder; each step runs before a look. @returns what was printed for each look */
async function tWatch(folder: string, dataDir: string, steps: readonly (() => unknown)[]) {
  const written: string[] = [];
  const looks: string[][] = [];
  for (const stream of [process.stdout, process.stderr]) {
    const write = vi.spyOn(stream, 'write').mockImplementation((text) => written.push(String(text)) > 0);
    onTestFinished(() => write.mockRestore());
  }
  await watchFolder({ folder, dataDir, force: false, looks: take() });
  return looks.map((texts) => texts.join(''));

  async function* take() {
    for (const step of steps) {
      await step();
      yield;
      looks.push(written.splice(0));
    }
  }
}

const nothing = () => {};

it('imports a file once, after it was written, and again when it has changed', async () => {
  const [folder, dataDir] = [tFolder(), tFolder()];
  const sample = tSample('SK');
  const content = await tFile(sample);
  const path = join(folder, sample.fileName);
  const [first, second, third, ...others] = await tWatch(folder, dataDir, [
    () => writeFileSync(path, content.subarray(0, 40)),
    () => writeFileSync(path, content),
    nothing,
    nothing,
    () => writeFileSync(path, Buffer.concat([content, Buffer.from('\r\n')])),
    nothing,
  ]);
  expect([first, second]).toEqual(['', '']);
  expect(third).toContain('Imported the banks of SK');
  expect(others).toEqual(['', '', expect.stringContaining('Imported the banks of SK')]);
  expect(await tBanks(dataDir, 'SK')).toHaveLength(3);
});

it('reports a file that fails once, leaves it there, and imports the others', async () => {
  const [folder, dataDir] = [tFolder(), tFolder()];
  const polish = tSample('PL');
  const invalid = { ...polish, rows: [...polish.rows, polish.invalid[0], polish.invalid[0]] };
  await tSampleFile(folder, invalid);
  await tSampleFile(folder, tSample('SK'));
  writeFileSync(join(folder, 'notes.txt'), 'to do');
  const mend = async () => {
    // As a cron job should: a new file in place of the old one.
    const path = await tSampleFile(tFolder(), polish);
    renameSync(path, join(folder, polish.fileName));
  };
  const looks = await tWatch(folder, dataDir, [nothing, nothing, nothing, mend, nothing]);
  expect(looks[1]).toMatch(/Nothing was imported for PL: plewibnra\.txt has errors in 2 of 4 rows/);
  expect(looks[1]).toContain(`Not recognized: ${join(folder, 'notes.txt')}\n`);
  expect(looks[1]).toContain('Imported the banks of SK');
  expect(looks.slice(2)).toEqual(['', '', expect.stringContaining('Imported the banks of PL')]);
});

it('reports a link to itself once, and imports the others', async () => {
  const folder = tFolder();
  symlinkSync('loop.csv', join(folder, 'loop.csv'));
  await tSampleFile(folder, tSample('SK'));
  const looks = await tWatch(folder, tFolder(), [nothing, nothing, nothing]);
  expect(looks[1]).toMatch(/Not recognized: .*loop\.csv \(.*ELOOP/);
  expect(looks[1]).toContain('Imported the banks of SK');
  expect(looks[2]).toBe('');
});

it('fails if there is no folder, or with a country', async () => {
  const folder = join(tFolder(), 'none');
  const { code, stderr } = await tImport(tFolder(), '--watch', folder);
  expect([code, stderr]).toEqual([1, `Nothing was imported: ${folder} must be a folder that can be read (ENOENT).\n`]);
  expect(await tImport(tFolder(), 'SK', '--watch', folder)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--watch takes a folder, but no country, file'),
  });
});

it('runs until it is stopped', async () => {
  const folder = tFolder();
  await tSampleFile(folder, tSample('SK'));
  const command = tCommand(['import-banks', '--watch', folder], { DATA_DIR: tFolder() });
  await command.printed(/Imported the banks of SK/);
  command.kill('SIGTERM');
  expect(await command.ended).toEqual({ code: 0, signal: null });
});
