import { execFileSync } from 'node:child_process';
import {
  closeSync,
  constants,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { openOutputFile, openStandardOutput } from '../../src/check/output.ts';
import { serviceAt, tCheck } from '../support/check/check.ts';
import { rightMessage } from '../support/check/pain-messages.ts';
import { tFolder } from '../support/gateway/stores/folder.ts';
import { tIban } from '../support/ibans.ts';
import { replyWithIban, tUpstream } from '../support/scripted-upstream.ts';

describe('an output', () => {
  it('that is a pipe or a device is written to, and not replaced by a file', async () => {
    const { run, path, folder } = tCheck(`IBAN\n${tIban(1)}\n`);
    const pipe = path('pipe');
    execFileSync('mkfifo', [pipe]);
    const reader = openSync(pipe, constants.O_RDWR);
    const { code, stderr } = await run(['--output', pipe]);
    expect([code, stderr]).toEqual([0, expect.stringContaining('1  valid')]);
    const content = Buffer.alloc(10_000);
    expect(content.toString('utf8', 0, readSync(reader, content))).toMatch(/^IBAN,status,.*\nDE.*,VALID,/);
    closeSync(reader);
    expect(statSync(pipe).isFIFO()).toBe(true);
    expect(readdirSync(folder).sort()).toEqual(['payees.csv', 'pipe']);
  });

  it('of two runs at a time is that of the later one: the earlier one neither completes nor deletes it', async () => {
    const folder = tFolder();
    const path = join(folder, 'checked.csv');
    const [first, stopped] = [openOutputFile(path), openOutputFile(path)];
    await first.write('first\n');
    await stopped.write('stopped\n');
    const last = openOutputFile(path);
    await last.write('last\n');
    await first.write('first again\n');
    expect(() => first.complete()).toThrow('is written by another run');
    stopped.discard();
    last.complete();
    last.discard();
    expect(readFileSync(path, 'utf8')).toBe('last\n');
    expect(readdirSync(folder)).toEqual(['checked.csv']);
  });

  it('that cannot get its name leaves no part of it', () => {
    const folder = tFolder();
    const path = join(folder, 'checked.csv');
    const output = openOutputFile(path);
    mkdirSync(path);
    expect(() => output.complete()).toThrow(`${path} cannot be written (EISDIR)`);
    output.discard();
    expect(readdirSync(folder)).toEqual(['checked.csv']);
  });

  it.each<[option: string, content: string, name: string]>([
    ['--output', `IBAN\n${tIban(1)}\n`, 'checked.csv'],
    ['--fix', rightMessage('pain.001.001.09'), 'fixed.xml'],
    ['--renovate', rightMessage('pain.001.001.03'), 'renovated.xml'],
  ])('of %s replaces a file only with --overwrite, before anything is asked', async (option, content, name) => {
    const upstream = await tUpstream(replyWithIban);
    const { run, path, read } = tCheck(content, 'input');
    writeFileSync(path(name), 'kept');
    const refused = await run([option, path(name)], serviceAt(upstream.url));
    expect([refused.code, refused.stderr]).toEqual([
      2,
      `error: ${path(name)} exists already: give ${option} another name, or replace the file with --overwrite\n`,
    ]);
    expect([read(name), upstream.calls]).toEqual(['kept', []]);
    await run([option, path(name), '--overwrite'], serviceAt(upstream.url));
    expect(read(name)).not.toBe('kept');
  });

  it('that is a folder is refused before anything is asked', async () => {
    const upstream = await tUpstream(replyWithIban);
    const { run, path, folder } = tCheck(`IBAN\n${tIban(1)}\n`);
    mkdirSync(path('results'));
    const { code, stderr } = await run(['--output', path('results')], serviceAt(upstream.url));
    expect([code, stderr]).toEqual([2, expect.stringContaining('results is a folder; expected the name of a file')]);
    expect(upstream.calls).toEqual([]);
    expect(readdirSync(folder).sort()).toEqual(['payees.csv', 'results']);
  });

  it('refuses a pipe for the repaired copy', async () => {
    const { run, path } = tCheck('<Document/>', 'payments.xml');
    execFileSync('mkfifo', [path('pipe')]);
    const { code, stderr } = await run(['--fix', path('pipe')]);
    expect([code, stderr]).toEqual([2, expect.stringContaining('--fix must be a file')]);
  });
});

it.each([
  ['EPIPE', 'the reader of the output has closed it'],
  ['ENOSPC', 'standard output cannot be written (ENOSPC)'],
])('standard output that fails with %s has a reason', async (code, reason) => {
  const stream = new Writable({ write: (_chunk, _encoding, done) => done(Object.assign(new Error(code), { code })) });
  const failed = new Promise((resolve) => {
    const output = openStandardOutput(stream as unknown as NodeJS.WriteStream, resolve);
    void output.write('a row');
  });
  expect(await failed).toBe(reason);
});
