import table from './rules.json' with { type: 'json' };

/** The most serious first. An error is refused by a bank, a warning may be, and a hint is a reason to look. */
export const severities = ['error', 'warning', 'hint'] as const;
export type Severity = (typeof severities)[number];

/** The rules beside those of ISO 20022: none, of SEPA, of German banks in SEPA or for other transfers, or of Swiss banks. */
export type Scheme = 'iso' | 'sepa' | 'dk' | 'dk-other' | 'sps';

interface Rule {
  severity: Severity;
  /** Without them, it holds for all payments. */
  schemes?: readonly Scheme[];
  /** ISO 8601: the first day of execution for which it holds. */
  from?: string;
  /** The documents that say so, which docs/payment-messages.md names. */
  source: string;
}

export type RuleCode = keyof typeof table.messages;
type TableCode = keyof typeof table.tables;

/** What is checked in a payment message. Codes are stable. docs/payment-messages.md says what each is, and what would be right. */
export const rules = table.messages as Readonly<Record<RuleCode, Rule>>;
/** What only tables can have, beside what is the same in payment messages. */
export const tableRules = table.tables as Readonly<Record<TableCode, Pick<Rule, 'severity'>>>;
const allRules = { ...rules, ...tableRules };

export function isRuleCode(code: string): code is RuleCode {
  return Object.hasOwn(rules, code);
}

/** Whether a rule holds for a payment of a scheme, on the day of its execution. @param day ISO 8601 */
export function holds(code: RuleCode, scheme: Scheme, day: string): boolean {
  const { schemes, from = '' } = rules[code];
  return (schemes?.includes(scheme) ?? true) && day >= from;
}

/** What was found in a table: the number of a row of the file, from 1, and the title of a column. */
export interface Finding<Place = { row: number; column: string | null }> {
  code: RuleCode | TableCode;
  severity: Severity;
  place: Place;
  message: string;
  suggestion: string | null;
}

/** What was found in a payment message. */
export interface MessageFinding extends Finding<MessagePlace> {
  /** The payment that it is in; without it, it is about the whole message. Only for people. */
  about?: AboutPayment;
}

export interface MessagePlace {
  line: number;
  xpath: string;
}

/** A payment in the words of those who pay. */
export interface AboutPayment {
  /** The identification of its batch. */
  batch: string;
  /** Null: it is about all payments of the batch. */
  payee: string | null;
  amount: string;
  endToEndId: string;
}

export function createFinding<Place>(
  code: Finding['code'],
  place: Place,
  message: string,
  suggestion: string | null = null,
): Finding<Place> {
  return { code, severity: allRules[code].severity, place, message, suggestion };
}

/** What differs between a payment message and its copy, and where it is in the message. IBANs are masked. */
export interface Change extends MessagePlace {
  code: RuleCode;
  before: string;
  after: string;
}

/** Ends the check of a payment message: the rest of the file cannot be read, or must not be. Its message never contains text of the file. */
export class Refusal extends Error {
  readonly code: RuleCode;
  /** Where the cause is, if it is earlier in the file than what is read; otherwise null. */
  readonly line: number | null;

  constructor(code: RuleCode, message: string, line: number | null = null) {
    super(message);
    this.name = 'Refusal';
    this.code = code;
    this.line = line;
  }
}
