import { describe, expect, it } from 'vitest';
import {
  findSchemes,
  type Participation,
  type PaymentScheme,
  type SchemeRegister,
} from '../../src/banks/scheme-registers.ts';

const registerDate = '2026-11-20';
const today = '2026-11-26';

/** Registers with these participants, all imported on one day. */
function tRegisters(
  registers: Partial<Record<PaymentScheme, Readonly<Record<string, readonly Participation[]>>>>,
): SchemeRegister[] {
  return Object.entries(registers).map(([scheme, participants]) => ({
    scheme: scheme as PaymentScheme,
    date: registerDate,
    participants: new Map(Object.entries(participants)),
  }));
}

/** What a register with one BIC says about another one. */
function ask(listed: string, bic: string, participations: readonly Participation[] = [[null, null]]) {
  const [found] = findSchemes(tRegisters({ SCT: { [listed]: participations } }), bic, today) ?? [];
  return found;
}

describe('a bank takes part in a scheme', () => {
  it.each([
    ['with the same BIC', 'AAAADEFFXXX', 'AAAADEFFXXX', true],
    ['with a BIC without a branch', 'AAAADEFFXXX', 'AAAADEFF', true],
    ['with a BIC that is spelled with spaces', 'AAAADEFFXXX', 'aaaa de ff', true],
    ['as a branch of a head office', 'AAAADEFFXXX', 'AAAADEFF123', true],
    ['with a branch that the register has', 'AAAADEF1ABC', 'AAAADEF1ABC', true],
    ['but not as another branch than one in the register', 'AAAADEF1ABC', 'AAAADEF1DEF', false],
    ['but not as a head office that the register lacks', 'AAAADEF1ABC', 'AAAADEF1XXX', false],
    ['but not in another location', 'AAAADEFFXXX', 'AAAADEHHXXX', false],
  ])('%s', (_, listed, bic, takesPart) => {
    expect(ask(listed, bic)).toMatchObject({ scheme: 'SCT', takesPart, registerDate });
  });

  it('as a branch with its own entry, whatever its head office does', () => {
    const sct = { AAAADEFFXXX: [[null, null]], AAAADEFF123: [[null, '2020-01-01']] } satisfies Record<
      string,
      Participation[]
    >;
    expect(findSchemes(tRegisters({ SCT: sct }), 'AAAADEFF123', today)).toMatchObject([{ takesPart: false }]);
  });

  it.each<[string, Participation[], object]>([
    ['without dates', [[null, null]], { takesPart: true, since: null, until: null }],
    ['since a day', [['2020-01-06', null]], { takesPart: true, since: '2020-01-06' }],
    ['since today', [[today, null]], { takesPart: true, since: today }],
    ['from tomorrow', [['2026-11-27', null]], { takesPart: false, since: '2026-11-27' }],
    ['until tomorrow', [['2020-01-06', '2026-11-27']], { takesPart: true, until: '2026-11-27' }],
    ['until today', [['2020-01-06', today]], { takesPart: false, until: today }],
    [
      'again',
      [
        ['2020-01-06', '2022-01-03'],
        ['2024-01-08', null],
      ],
      { takesPart: true, since: '2024-01-08' },
    ],
    [
      'again soon',
      [
        ['2020-01-06', '2022-01-03'],
        ['2027-01-04', null],
      ],
      { takesPart: false, since: '2027-01-04' },
    ],
    [
      'twice in the past',
      [
        ['2018-01-08', '2019-01-07'],
        ['2020-01-06', '2022-01-03'],
      ],
      { takesPart: false, until: '2022-01-03' },
    ],
    ['never', [], { takesPart: false, since: null, until: null }],
  ])('%s', (_, participations, expected) => {
    expect(ask('AAAADEFFXXX', 'AAAADEFF', participations)).toMatchObject(expected);
  });
});

it('has an entry for each imported register, also of schemes in which the bank does not take part', () => {
  const registers = tRegisters({ SCT_INST: { AAAADEFFXXX: [[null, null]] }, VOP: {} });
  const none = { since: null, until: null, registerDate };
  expect(findSchemes(registers, 'AAAADEFF', today)).toEqual([
    { scheme: 'SCT_INST', takesPart: true, ...none },
    { scheme: 'VOP', takesPart: false, ...none },
  ]);
});

it('is null without registers, and for what is not a BIC', () => {
  expect(findSchemes(tRegisters({}), 'AAAADEFF', today)).toBeNull();
  for (const text of ['', 'AAAADEF', 'AAAA-EFF', 'AAAA00FF']) {
    expect(findSchemes(tRegisters({ SCT: {} }), text, today)).toBeNull();
  }
});
