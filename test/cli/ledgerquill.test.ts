import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { parse, print } from 'graphql';
import { describe, expect, it } from 'vitest';
import { runCommand } from '../support/command.ts';

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));

describe('the ledgerquill command', () => {
  it('prints its help and its version, and exits with 0', async () => {
    const help = await runCommand(['--help']);
    expect([help.code, help.stderr]).toEqual([0, '']);
    expect(help.stdout).toMatch(/^Usage: ledgerquill \[options\] \[command\]\n/);
    expect(await runCommand(['-V'])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
  });

  it.each(['start', 'check-config', 'schema', 'import-banks', 'api-key', 'bank-data-service', 'essay-service'])(
    'prints the help of %s without running it',
    async (name) => {
      const { code, stdout, stderr } = await runCommand([name, '--help']);
      expect([code, stderr]).toEqual([0, '']);
      expect(stdout).toMatch(new RegExp(`^Usage: ledgerquill ${name} \\[options\\]`));
    },
  );

  it.each([
    [[], 'Usage: ledgerquill'],
    [['strt'], "error: unknown command 'strt'\n(Did you mean start?)"],
    [['strt', '--help'], "error: unknown command 'strt'\n(Did you mean start?)"],
    [['-h', 'strt'], "error: unknown command 'strt'"],
    [['help', 'strt'], "error: unknown command 'strt'\n(Did you mean start?)"],
    [['start', '--prt', '4000'], "error: unknown option '--prt'\n(Did you mean --port?)"],
    [['start', '--port', 'http'], 'error: --port must be a whole number from 0 to 65535, but is "http"\n'],
    [['start', '--port='], 'error: --port must be a whole number from 0 to 65535, but is ""\n'],
    [['start', '--host', 'a b'], 'error: --host must be an IP address or host name of this machine'],
    [['schema', '--client', '--possible-types'], "option '--possible-types' cannot be used with option '--client'"],
    [['schema', '--client', '--scopes'], "option '--scopes' cannot be used with option '--client'"],
    [['schema', '--apollo', '--graphcache'], "option '--graphcache' cannot be used with option '--apollo'"],
    [['start', 'now'], 'error: too many arguments'],
  ])('exits with 2 for wrong usage: %j', async (args, message) => {
    const { code, stdout, stderr } = await runCommand(args);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(message);
  });

  it.each([
    [[], 'schema.graphql'],
    [['--client'], 'schema.client.graphql'],
    [['--possible-types'], 'possibleTypes.json'],
    [['--apollo'], 'clients/apollo-cache.js'],
    [['--graphcache'], 'clients/graphcache.js'],
  ])('prints with schema %j the file %s of the package', async (options, file) => {
    const text = readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
    expect(await runCommand(['schema', ...options])).toEqual({ code: 0, stdout: text, stderr: '' });
  });

  it('prints with schema --scopes the subgraph with the scopes that its fields need', async () => {
    const subgraph = readFileSync(new URL('../../schema.graphql', import.meta.url), 'utf8');
    const { code, stdout, stderr } = await runCommand(['schema', '--scopes']);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/@link\(url: "[^"]+", import: \[.*"@requiresScopes"\]\)/);
    expect(stdout).toMatch(/^ {2}bank\([^)]*\): BankData .*@requiresScopes\(scopes: \[\["bank-data"\]\]\)$/m);
    expect(stdout).toMatch(/^ {2}startEssay\([^)]*\): StartEssayResult.*@requiresScopes\(scopes: \[\["essays"\]\]\)$/m);
    const without = stdout.replace(/ @requiresScopes\(scopes: .*?\]\]\)/g, '').replace(', "@requiresScopes"', '');
    expect(print(parse(without))).toBe(print(parse(subgraph)));
  });

  it.each([
    [['check', '--help'], 0],
    [['schema'], 0],
    [[], 2],
  ])('ends quietly if the reader of its output has closed it: %j', async (args, exitCode) => {
    const command = fileURLToPath(new URL('../../dist/cli/ledgerquill.js', import.meta.url));
    const child = spawn(process.execPath, [command, ...args], {
      env: { ENV_FILE: '' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child.stdout.destroy();
    const [messages, [code]] = await Promise.all([text(child.stderr), once(child, 'close')]);
    expect(code).toBe(exitCode);
    expect(messages).not.toMatch(/EPIPE|Error/);
  });

  it('exits with 1 if the file of --dotenv or of ENV_FILE is missing', async () => {
    for (const { code, stderr } of [
      await runCommand(['start', '--dotenv', 'missing.env']),
      await runCommand(['start'], { ENV_FILE: 'missing.env' }),
    ]) {
      expect(code).toBe(1);
      expect(stderr).toContain('missing.env: must be a file of lines NAME=value, but cannot be read (ENOENT)');
    }
  });
});
