import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { resultTexts } from '../../scripts/rule-texts.ts';
import { errorCodes } from '../../src/base/errors.ts';
import { rules, tableRules } from '../../src/check/finding.ts';
import { bankStatuses } from '../../src/check/pain/bank-statuses.ts';
import { bankReasons } from '../../src/check/pain/code-lists.ts';
import { runCommand } from '../support/command.ts';

describe('ledgerquill banks', () => {
  it('prints a bank', async () => {
    const { code, stdout, stderr } = await runCommand(['banks', 'fr', '28233']);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^name +REVOLUT BANK UAB$/m);
    expect(stdout).toMatch(/^bic +REVOFRP2$/m);
    expect(stdout).toMatch(/^status +LISTED$/m);
  });

  it('prints a closed bank as JSON, with its successor', async () => {
    const { code, stdout } = await runCommand(['banks', 'ES', '0010', '--json']);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ bic: 'BBVAESMM', status: 'DELETED', successor: '0182' });
  });

  it('prints all banks that begin with a code', async () => {
    const { stdout } = await runCommand(['banks', 'FR', '2', '--json']);
    const codes: string[] = JSON.parse(stdout).map(({ bankCode }: { bankCode: string }) => bankCode);
    expect(codes).toContain('28233');
    expect(codes.filter((code) => !code.startsWith('2'))).toEqual([]);
    expect(codes).toEqual([...codes].sort());
  });

  it('prints each list without arguments', async () => {
    const { code, stdout } = await runCommand(['banks']);
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^country +codes +closed +bics +names +cities +date +old +kind +source\nAD .* yes +CURATED /,
    );
    expect(stdout.trimEnd().split('\n')).toHaveLength(45);
  });

  it('exits with 1 for a bank code that is not listed, and with 2 for a country without a list', async () => {
    expect(await runCommand(['banks', 'FR', '99999'])).toMatchObject({
      code: 1,
      stdout: 'error  no bank code 99999 in FR\n',
    });
    const { code, stderr } = await runCommand(['banks', 'VA']);
    expect(code).toBe(2);
    expect(stderr).toContain('the country must be one of AD, AE, AT, BA, ');
  });
});

describe('ledgerquill iban', () => {
  it('checks an IBAN and prints its bank', async () => {
    const { code, stdout } = await runCommand(['iban', 'de89 3704 0044 0532 0130 00']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^iban +DE89 3704 0044 0532 0130 00\nvalid +true\ncountry +Germany$/m);
    expect(stdout).toMatch(/^ {2}name +Commerzbank$/m);
  });

  it('prints the problems as JSON, and exits with 1', async () => {
    const { code, stdout } = await runCommand(['iban', 'DE88370400440532013000', '--json']);
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      valid: false,
      problems: ['The check digits do not match the rest of the IBAN.'],
      bankCode: '37040044',
      bank: { name: 'Commerzbank', bic: 'COBADEFFXXX' },
    });
  });

  it('has no bank for a country without a list', async () => {
    const { code, stdout } = await runCommand(['iban', 'MT84MALT011000012345MTLCAST001S', '--json']);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ valid: true, bankCode: 'MALT', bankCodeStatus: 'UNKNOWN', bank: null });
  });
});

it('loads at most 200 kB of code, so that it answers at once', () => {
  const dist = fileURLToPath(new URL('../../dist/', import.meta.url));
  const lookUp = readdirSync(dist).find((name) => /^look-up-\w+\.js$/.test(name)) ?? expect.unreachable();
  const loaded = new Map<string, string>();
  const load = (path: string) => {
    if (loaded.has(path)) return;
    const text = readFileSync(path, 'utf8');
    loaded.set(path, text);
    for (const [, imported = ''] of text.matchAll(/(?:from|import)"(\.[^"]+)"/g))
      load(resolve(dirname(path), imported));
  };
  for (const path of ['cli/ledgerquill.js', lookUp]) load(join(dist, path));
  expect(loaded.size).toBeGreaterThan(5);
  expect([...loaded.values()].join('').length).toBeLessThan(200_000);
});

describe('ledgerquill explain', () => {
  it.each([
    ['address_required', /^ADDRESS_REQUIRED\n {2}severity: error\n[\s\S]* {2}source: Regulation \(EU\) 2023\/1113\n$/],
    ['TOO_SHORT', /what was found: [\s\S]*what would be right: [\s\S]*ask the payee/],
    ['FAILED', /column: status\n[\s\S]*\n\nFAILED\n {2}column: national_check\n/],
    ['VERSION_ENDED', /--renovate/],
    ['AC04', /^AC04\n {2}reason of a bank: the account is closed\n$/],
    ['RJCT', /^RJCT\n {2}status of a bank: The bank has rejected it\n {2}finding: BANK_REJECTED\n$/],
  ])('prints what %s means', async (code, text) => {
    expect(await runCommand(['explain', code])).toEqual({ code: 0, stderr: '', stdout: expect.stringMatching(text) });
  });

  it('explains each code that a result can have', async () => {
    const words = Object.values(resultTexts).flatMap((texts) => Object.keys(texts));
    const codes = [rules, tableRules].flatMap((table) => Object.keys(table));
    const all = [...codes, ...words, ...bankReasons.keys(), ...bankStatuses.keys(), ...errorCodes];
    const { code, stdout, stderr } = await runCommand(['explain', ...all]);
    expect([code, stderr]).toEqual([0, '']);
    // Each has more than its name.
    const blocks = stdout.trimEnd().split('\n\n');
    expect(blocks.length).toBeGreaterThanOrEqual(new Set(all).size);
    expect(
      blocks.filter((block) => !/^\w+\n {2}\w.{15}/.test(block.replace(/^(\w+)\n {2}(?:severity|column): .*/, '$1'))),
    ).toEqual([]);
  });

  it('names the nearest code for one that does not exist', async () => {
    const { code, stderr } = await runCommand(['explain', 'BIC_OF_ANOTHER_BANK']);
    expect([code, stderr]).toEqual([2, expect.stringContaining('the nearest is BIC_OF_OTHER_BANK')]);
  });
});
