import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runCommand } from '../support/command.ts';
import { tFolder } from '../support/gateway/stores/folder.ts';
import { whyMissing } from '../support/installed.ts';

const commandNames = [
  ...['start', 'check', 'check-config', 'schema', 'import-banks', 'api-key', 'bank-data-service', 'essay-service'],
  'completion',
];

/** Each prints what it offers for the last of the words, one per line. */
const shells = {
  bash: (words: string) => `COMP_WORDS=(${words}); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); _ledgerquill
    printf '%s\\n' "\${COMPREPLY[@]}"`,
  zsh: (words: string) => `COMP_WORDS=(${words}); COMP_CWORD=$((\${#COMP_WORDS} - 1))
    PREFIX=\${COMP_WORDS[-1]}; compgen -F _ledgerquill`,
  fish: (words: string) => `complete -C '${words.replaceAll("''", '')}' | string split -f 1 \\t`,
};
const begins = { bash: 'source "$1"', zsh: 'compdef() { }; source "$1"', fish: 'source $argv[1]' };

const file = ['bank codes.csv'];
const some = (...words: string[]) => expect.arrayContaining(words);
const offered: [words: string, expected: unknown][] = [
  ["ledgerquill ''", some(...commandNames)],
  ["ledgerquill import-banks ''", some('AT', 'DE', 'SK', 'DK', 'FO', 'GL', 'LT', 'UA')],
  ['ledgerquill import-banks --', some('--all', '--date', '--undo', '--force', '--dotenv')],
  ["ledgerquill completion ''", some('bash', 'zsh', 'fish')],
  ['ledgerquill import-banks DE ba', some(...file)],
  ['ledgerquill import-banks --all ba', some(...file)],
  ['ledgerquill check ba', some(...file)],
  ['ledgerquill check a.csv ba', some(...file)],
  ['ledgerquill check a.csv --output ba', some(...file)],
  ['ledgerquill check --', some('--column', '--format', '--output', '--gateway', '--max-calls', '--dry-run')],
  ["ledgerquill check a.csv --format ''", ['csv', 'json', 'xlsx']],
  ['ledgerquill start --dotenv ba', some(...file)],
  ["ledgerquill start --port ''", ['']],
  ['ledgerquill start --', some('--port', '--host', '--dotenv')],
  ['ledgerquill start --', expect.not.arrayContaining(['--undo'])],
];

describe.each(Object.keys(shells) as (keyof typeof shells)[])('completion in %s', (shell) => {
  const whyNot = whyMissing(shell);
  const flags = { bash: ['--norc'], zsh: ['-f'], fish: ['--no-config'] }[shell];

  it.skipIf(whyNot)(`offers commands, options, values and files${whyNot}`, async () => {
    const folder = tFolder();
    const script = join(folder, 'completion');
    const { code, stdout: completion } = await runCommand(['completion', shell]);
    expect(code).toBe(0);
    writeFileSync(script, completion);
    writeFileSync(join(folder, 'bank codes.csv'), '');
    const commands = [begins[shell], ...offered.map(([words]) => `${shells[shell](words)}\necho END`)].join('\n');
    const args = [...flags, '-c', commands, ...(shell === 'fish' ? [] : ['-']), script];
    const { stdout, stderr } = spawnSync(shell, args, { cwd: folder, encoding: 'utf8' });
    expect(stderr).toBe('');
    const outputs = stdout.split('END\n').slice(0, -1);
    const lists = outputs.map((output) => output.trim().split('\n').toSorted());
    expect(lists).toEqual(offered.map(([, expected]) => expected));
  });
});

it('names the shells that it supports, and exits with 2 for others', async () => {
  const { code, stderr } = await runCommand(['completion', 'tcsh']);
  expect(code).toBe(2);
  expect(stderr).toContain('Allowed choices are bash, zsh, fish.');
});
