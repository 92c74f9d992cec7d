/** The national check digits of a country. All functions expect a BBAN with the structure of the country. */
export interface NationalCheck {
  /** Whether the rule applies to this account; absent if it applies to all accounts. */
  covers?(bban: string): boolean;
  /** Whether the check digits are right. */
  passes(bban: string): boolean;
  /**
   * The BBAN with its check digits computed, whatever it had in their place; null if there are no valid check digits,
   * so that no such account exists. Absent if the check digits are part of the account number or bank code.
   */
  complete?(bban: string): string | null;
}

/** A check that passes if completing the BBAN does not change it. */
export function createCheck(complete: (bban: string) => string | null): NationalCheck {
  return { complete, passes: (bban) => complete(bban) === bban };
}
