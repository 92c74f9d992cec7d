import { compactBic, findBicProblems, fullBic } from '../iban/bic.ts';

/** The payment schemes of the European Payments Council (EPC) whose registers of participants can be imported. */
export const paymentSchemes = ['SCT', 'SCT_INST', 'SDD_CORE', 'SDD_B2B', 'VOP'] as const;
export type PaymentScheme = (typeof paymentSchemes)[number];

/** From the first day on which an institution takes part to the day on which it leaves, as ISO dates; null if not listed. */
export type Participation = readonly [since: string | null, until: string | null];

/** An imported register. */
export interface SchemeRegister {
  scheme: PaymentScheme;
  /** ISO date of the import. */
  date: string;
  participants: Participants;
}

/** A register whose participants are read when they are needed. `revision` changes with each import. */
export interface ListedRegister extends Omit<SchemeRegister, 'participants'> {
  revision: number;
}

/** By BIC of 11 characters. Participations are ascending: an institution may leave and come back. */
export type Participants = ReadonlyMap<string, readonly Participation[]>;

/** What the register of a scheme says about a bank. */
export interface BankScheme {
  scheme: PaymentScheme;
  /** Whether the bank takes part today. */
  takesPart: boolean;
  /** ISO date of its first day, which may be in the future; null if unknown, or if the register does not have the bank. */
  since: string | null;
  /** ISO date of the day on which it leaves; null if none is known. */
  until: string | null;
  /** ISO date of the import. */
  registerDate: string;
}

/**
 * What each imported register says about the bank with this BIC. Registers have one BIC for each legal entity, so a branch that they
 * do not have belongs to its head office. But hundreds of independent banks share the first eight characters of a BIC: a
 * branch in a register is not found by another one.
 * @param today ISO date
 * @returns null without a register or a valid BIC
 */
export function findSchemes(registers: readonly SchemeRegister[], text: string, today: string): BankScheme[] | null {
  const bic = compactBic(text);
  if (registers.length === 0 || findBicProblems(bic).length > 0) return null;
  return registers.map(({ scheme, date, participants }) => {
    const listed = participants.get(fullBic(bic)) ?? participants.get(fullBic(bic.slice(0, 8))) ?? [];
    return { scheme, ...takePart(listed, today), registerDate: date };
  });
}

/** The present participation, otherwise the next, otherwise the last. */
function takePart(
  participations: readonly Participation[],
  today: string,
): Pick<BankScheme, 'takesPart' | 'since' | 'until'> {
  const notEnded = participations.find(([, until]) => until === null || today < until);
  const [since, until] = notEnded ?? participations.at(-1) ?? [null, null];
  return { takesPart: notEnded !== undefined && (since === null || since <= today), since, until };
}
