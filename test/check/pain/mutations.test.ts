import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { RuleCode } from '../../../src/check/finding.ts';
import { changes, detailedMessage, findNode, printMessage } from '../../support/check/mutate-xml.ts';
import { findAllIn, type Version, versions, withoutVersionEnd } from '../../support/check/pain-messages.ts';

/*
 * What the schemas of ISO 20022 and of German banks say about one change of a right message: `valid` by both, valid by that of ISO
 * (`iso`) only, or `refused` by both. For `limit+1`, the length depends on the type, which the tables have.
 */

type Verdicts = Readonly<Record<string, Readonly<Partial<Record<'valid' | 'iso' | 'refused', string>>>>>;
const verdicts: Readonly<Partial<Record<Version, Verdicts>>> = JSON.parse(
  readFileSync(new URL('../../data/pain-mutations.json', import.meta.url), 'utf8'),
);

/** Rules of SEPA, and of what a bank has seen before, refuse some messages that are valid by the schemas. */
const schemeRules: ReadonlySet<RuleCode> = new Set([
  ...(['CREDITOR_ID_INVALID', 'WRONG_CODE', 'TRANSACTION_COUNT_MISMATCH', 'CONTROL_SUM_MISMATCH'] as const),
  ...(['DUPLICATE_PAYMENT_ID', 'WRONG_CHECK_DIGITS'] as const),
]);
/** What SEPA direct debits need may be missing by the schemas. */
const schemePaths = /\/PmtTpInf\/(?:SvcLvl|LclInstrm|SeqTp)$|\/SchmeNm(?:\/Prtry)?$/;
/** XML Schema ignores white space around dates, although some processors refuse it. */
const isPaddedDate = (path: string, change: string) => /Dt(?:Tm)?$/.test(path) && change.endsWith('-padded');

it.each(versions)('the detailed message of %s has no finding', async (version) => {
  const { findings } = await findAllIn(printMessage(detailedMessage(version)));
  expect(withoutVersionEnd(findings)).toEqual([]);
});

describe.each(Object.entries(verdicts) as [Version, Verdicts][])('a changed %s', (version, paths) => {
  const cases = Object.entries(paths).flatMap(([path, byVerdict]) =>
    Object.entries(byVerdict).flatMap(([verdict, list]) =>
      list
        .split(' ')
        .filter((change) => changes[change] !== undefined && !isPaddedDate(path, change))
        .map((change) => ({ path, change, verdict })),
    ),
  );

  it.each([
    ['refused', 'auto'],
    ['valid', 'auto'],
    ['valid', 'dk'],
    ['iso', 'dk'],
  ] as const)('is judged as the schemas do: %s, by the profile %s', async (verdict, profile) => {
    const isRefused = verdict !== 'valid';
    const wrong: string[] = [];
    const judged = cases.filter((each) => each.verdict === verdict);
    for (const { path, change } of judged) {
      const message = detailedMessage(version);
      const found = findNode(message, path);
      if (found === null) throw new Error(`${path} must be in the message`);
      changes[change]?.(found);
      const { findings } = await findAllIn(printMessage(message), { profile });
      const errors = withoutVersionEnd(findings).filter(
        ({ code, severity, place }) =>
          severity === 'error' && (isRefused || !(schemeRules.has(code as RuleCode) || schemePaths.test(place.xpath))),
      );
      if (errors.length > 0 !== isRefused) wrong.push(`${change} ${path} ${errors.map(({ code }) => code)}`);
    }
    expect(judged.length).toBeGreaterThan(verdict === 'iso' ? 5 : 30);
    expect(wrong).toEqual([]);
  });
});
