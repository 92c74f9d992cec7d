import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { tCommand } from '../support/process.ts';

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));

async function tRun(args: readonly string[], env = {}) {
  const command = tCommand(args, env);
  const { code } = await command.ended;
  return { code, stdout: command.stdout(), stderr: command.stderr() };
}

describe('the ledgerquill command', () => {
  it('prints its help and its version, and exits with 0', async () => {
    const help = await tRun(['--help']);
    expect([help.code, help.stderr]).toEqual([0, '']);
    expect(help.stdout).toMatch(/^Usage: ledgerquill \[options\] \[command\]\n/);
    expect(await tRun(['-V'])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
  });

  it.each(['start', 'check-config', 'import-banks', 'api-key', 'bank-data-service', 'essay-service', 'completion'])(
    'prints the help of %s without running it',
    async (name) => {
      const { code, stdout, stderr } = await tRun([name, '--help']);
      expect([code, stderr]).toEqual([0, '']);
      expect(stdout).toMatch(new RegExp(`^Usage: ledgerquill ${name} \\[options\\]`));
    },
  );

  it.each([
    [[], 'Usage: ledgerquill'],
    [['strt'], "error: unknown command 'strt'\n(Did you mean start?)"],
    [['start', '--port', '4000'], "error: unknown option '--port'"],
    [['start', 'now'], 'error: too many arguments'],
  ])('exits with 2 for wrong usage: %j', async (args, message) => {
    const { code, stdout, stderr } = await tRun(args);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(message);
  });

  it('exits with 1 if the file of --dotenv or of ENV_FILE is missing', async () => {
    for (const { code, stderr } of [
      await tRun(['start', '--dotenv', 'missing.env']),
      await tRun(['start'], { ENV_FILE: 'missing.env' }),
    ]) {
      expect(code).toBe(1);
      expect(stderr).toContain('missing.env: must be a file of lines NAME=value, but cannot be read (ENOENT)');
    }
  });
});
