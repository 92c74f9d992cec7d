import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { escapeLine } from '../../src/base/log.ts';
import { openStandardOutput } from '../../src/check/output.ts';
import { tImport } from '../support/banks/import/imports.ts';
import { tCheck } from '../support/check/check.ts';
import { readAll, runCommand } from '../support/command.ts';
import { tFolder } from '../support/gateway/stores/folder.ts';
import { replyJson, tUpstream } from '../support/scripted-upstream.ts';

/* What would control a terminal does not reach people: it may be in the name of a file, in its cells, and in responses. */

const hostile = 'pay\u001b[2J\u009b1m\u202e\r';
const escaped = 'pay\\u001b[2J\\u009b1m\\u202e\\u000d';
const controls = /(?!\n|\t)[\p{Cc}\p{Bidi_Control}]/u;

function tTerminal(isTTY: boolean) {
  const stream = Object.assign(new PassThrough(), { isTTY });
  return { stream: stream as unknown as NodeJS.WriteStream, written: () => readAll(stream) };
}

describe('check', () => {
  it('escapes it in its messages, and keeps it in the rows, which are data', async () => {
    const { run } = tCheck(`"IBAN ${hostile}",Name\nDE89370400440532013000,${hostile.trim()}\n`, `${hostile}.csv`);
    const { stdout, stderr } = await run();
    expect(stderr).toContain(`${escaped}.csv: 2 rows read`);
    expect(stderr).not.toMatch(controls);
    expect(stdout).toContain(`,${hostile.trim()}`);
  });

  it('escapes what a gateway answers', async () => {
    const gateway = await tUpstream(replyJson(200, { errors: [{ message: hostile, extensions: { code: hostile } }] }));
    const { run } = tCheck('IBAN\nDE89370400440532013000\n');
    const { stderr } = await run(['--gateway', gateway.url]);
    expect(stderr).not.toMatch(controls);
  });

  it('escapes it in rows on a terminal only', async () => {
    for (const [isTTY, shown] of [
      [true, `${escaped}x\r\n`],
      [false, `${hostile}x\r\n`],
    ] as const) {
      const { stream, written } = tTerminal(isTTY);
      await openStandardOutput(stream, () => {}).write(`${hostile}x\r\n`);
      expect(written()).toBe(shown);
    }
  });
});

it('import-banks, restore, check-config and wrong usage escape it', async () => {
  const dataDir = tFolder();
  const commands = [
    tImport(dataDir, 'DE', hostile),
    runCommand(['restore', hostile], { DATA_DIR: dataDir }),
    runCommand(['check-config'], { DATA_DIR: dataDir, ALLOWED_HOSTS: hostile }),
    runCommand([hostile], { DATA_DIR: dataDir }),
    runCommand(['start', '--dotenv', hostile], { DATA_DIR: dataDir }),
  ];
  for (const command of commands) {
    const { stdout, stderr } = await command;
    const output = stdout + stderr;
    expect(output).toContain('pay\\u001b[2J');
    expect(output).not.toMatch(controls);
  }
});

it('the log on a terminal escapes it in decoded texts', () => {
  const line = escapeLine(`${JSON.stringify({ level: 30, msg: hostile, deep: [{ name: hostile }] })}\n`);
  expect(JSON.parse(line)).toEqual({ level: 30, msg: escaped, deep: [{ name: escaped }] });
});
