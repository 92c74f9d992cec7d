import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tFolder } from '../support/gateway/stores/folder.ts';
import { tCommand } from '../support/process.ts';

const commandNames = [
  ...['start', 'check', 'check-config', 'schema', 'import-banks', 'api-key', 'bank-data-service', 'essay-service'],
  'completion',
];

/** Each prints what it offers for the last of the words, one per line. */
const shells = {
  bash: (words: string) => `source "$1"; COMP_WORDS=(${words}); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); _ledgerquill
    printf '%s\\n' "\${COMPREPLY[@]}"`,
  zsh: (words: string) => `compdef() { }; source "$1"; COMP_WORDS=(${words}); COMP_CWORD=$((\${#COMP_WORDS} - 1))
    PREFIX=\${COMP_WORDS[-1]}; compgen -F _ledgerquill`,
  fish: (words: string) => `source $argv[1]; complete -C '${words.replaceAll("''", '')}' | string split -f 1 \\t`,
};

describe.each(Object.entries(shells))('completion in %s', (shell, toScript) => {
  const whyNot = spawnSync(shell, ['-c', '']).error
    ? ` (SKIPPED: ${shell} is missing; install the package ${shell})`
    : '';
  const flags = { bash: ['--norc'], zsh: ['-f'], fish: ['--no-config'] }[shell] ?? [];

  it.skipIf(whyNot)(`offers commands, options, values and files${whyNot}`, async () => {
    const folder = tFolder();
    const script = join(folder, 'completion');
    const command = tCommand(['completion', shell]);
    expect(await command.ended).toEqual({ code: 0, signal: null });
    writeFileSync(script, command.stdout());
    writeFileSync(join(folder, 'bank codes.csv'), '');
    const complete = (words: string) => {
      const args = [...flags, '-c', toScript(words), ...(shell === 'fish' ? [] : ['-']), script];
      const { stdout, stderr } = spawnSync(shell, args, { cwd: folder, encoding: 'utf8' });
      expect(stderr).toBe('');
      return stdout.trim().split('\n');
    };

    expect(complete("ledgerquill ''")).toEqual(expect.arrayContaining(commandNames));
    expect(complete("ledgerquill import-banks ''")).toEqual(expect.arrayContaining(['AT', 'DE', 'SK']));
    expect(complete('ledgerquill import-banks --')).toEqual(
      expect.arrayContaining(['--all', '--date', '--undo', '--force', '--dotenv']),
    );
    expect(complete("ledgerquill completion ''")).toEqual(expect.arrayContaining(['bash', 'zsh', 'fish']));
    expect(complete('ledgerquill import-banks DE ba')).toContain('bank codes.csv');
    expect(complete('ledgerquill import-banks --all ba')).toContain('bank codes.csv');
    expect(complete('ledgerquill check ba')).toContain('bank codes.csv');
    expect(complete('ledgerquill check a.csv ba')).toContain('bank codes.csv');
    expect(complete('ledgerquill check a.csv --output ba')).toContain('bank codes.csv');
    expect(complete('ledgerquill check --')).toEqual(
      expect.arrayContaining(['--column', '--format', '--output', '--gateway', '--max-calls', '--dry-run', '--resume']),
    );
    expect(complete("ledgerquill check a.csv --format ''").toSorted()).toEqual(['csv', 'json', 'xlsx']);
    expect(complete("ledgerquill import-banks ''")).toEqual(expect.arrayContaining(['DK', 'FO', 'GL', 'LT', 'UA']));
    expect(complete('ledgerquill start --dotenv ba')).toContain('bank codes.csv');
    expect(complete("ledgerquill start --port ''")).toEqual(['']);
    expect(complete('ledgerquill start --')).toEqual(expect.arrayContaining(['--port', '--host', '--dotenv']));
    expect(complete('ledgerquill start --')).not.toContain('--undo');
  });
});

it('names the shells that it supports, and exits with 2 for others', async () => {
  const command = tCommand(['completion', 'tcsh']);
  expect(await command.ended).toEqual({ code: 2, signal: null });
  expect(command.stderr()).toContain('Allowed choices are bash, zsh, fish.');
});
