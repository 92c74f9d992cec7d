/**
 * A country's own check digits inside the BBAN. Every BBAN handed in has the structure of its country; nothing here
 * looks at that again.
 */
export interface NationalCheck {
  /** Whether the rule is meant for this account at all; absent where it is meant for every account. */
  covers?(bban: string): boolean;
  /** Whether the check digits are the ones that the rule asks for. */
  passes(bban: string): boolean;
  /**
   * The BBAN with the check digits put where they belong, whatever stood there; null where the rule yields none, so
   * that no such account is issued. Absent where the check digits are not set apart from the account or bank code.
   */
  complete?(bban: string): string | null;
}

/** A check that passes the BBANs that completing leaves as they are. */
export function createCheck(complete: (bban: string) => string | null): NationalCheck {
  return { complete, passes: (bban) => complete(bban) === bban };
}
