import type { BankEntry } from '../../listed-bank.ts';

/* What a list says of a bank in other rows. */

/** A row without a BIC gets the one of its institution, if the rows with the same name have only one. */
export function shareBics(entries: readonly BankEntry[]): BankEntry[] {
  const bics = new Map<string, Set<string>>();
  for (const { name, bic } of entries) {
    if (name !== '' && bic !== '') bics.set(name, (bics.get(name) ?? new Set()).add(bic));
  }
  return entries.map((entry) => {
    const [bic = '', another] = bics.get(entry.name) ?? [];
    return entry.bic === '' && another === undefined ? { ...entry, bic } : entry;
  });
}

/** The bank 5 has all bank codes from 500 to 599 that the list does not give to another one. */
export function expandPrefixes(entries: readonly BankEntry[]): BankEntry[] {
  const longestFirst = [...entries].sort((a, b) => b.bankCode.length - a.bankCode.length);
  const expanded = new Map<string, BankEntry>();
  for (const entry of longestFirst) {
    const length = 10 ** (3 - entry.bankCode.length);
    for (let index = 0; index < length; index++) {
      const bankCode =
        length === 1 ? entry.bankCode : entry.bankCode + String(index).padStart(3 - entry.bankCode.length, '0');
      if (!expanded.has(bankCode)) expanded.set(bankCode, { ...entry, bankCode });
    }
  }
  return [...expanded.values()];
}

/**
 * An account number begins with the 3 digits of a bank, the 4 of a branch, and a check digit. The entries are the head
 * office of each bank, under its 3 digits, and all branches, under 7: see `findBank`.
 */
export function addHeadOffices(entries: readonly BankEntry[]): BankEntry[] {
  const heads = new Map<string, BankEntry>();
  const branches = new Map<string, BankEntry>();
  for (const entry of entries) {
    const [bankCode, branch] = [entry.bankCode.slice(0, 3), entry.bankCode.slice(0, 7)];
    const head = heads.get(bankCode);
    if (head === undefined || isMoreLikelyHeadOffice(entry, head)) heads.set(bankCode, entry);
    if (branch.length === 7 && !branches.has(branch)) branches.set(branch, { ...entry, bankCode: branch });
  }
  return [...Array.from(heads, ([bankCode, entry]) => ({ ...entry, bankCode })), ...branches.values()];
}

/**
 * The list does not mark head offices. In this order: a row without a branch, a name with the word for head office (but not
 * for a shopping center: `Bevásárlóközpont`), the lower number, as banks number their head office first.
 */
function isMoreLikelyHeadOffice(entry: BankEntry, other: BankEntry): boolean {
  const rank = ({ bankCode, name }: BankEntry) => [
    bankCode.length === 3 ? 0 : 1,
    /(?<!\p{L})(központ|székhely)/iu.test(name) ? 0 : 1,
    Number(bankCode.slice(3, 7)),
  ];
  const [ranks, otherRanks] = [rank(entry), rank(other)];
  const differing = ranks.findIndex((value, index) => value !== otherRanks[index]);
  return differing >= 0 && (ranks[differing] ?? 0) < (otherRanks[differing] ?? 0);
}
