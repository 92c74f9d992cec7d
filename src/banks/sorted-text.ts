/**
 * Values by key in one string, as thousands of banks as objects in maps take four times the memory. A line is the key, a tab and the value,
 * neither of which has a line break; the key has no tab.
 */
export interface SortedText {
  get(key: string): string | undefined;
  /** In the order of the keys. */
  lines(): string[];
}

/** @param values a later value of a key replaces an earlier one */
export function createSortedText(values: Iterable<readonly [key: string, value: string]>): SortedText {
  const sorted = [...new Map(values)].sort(([a], [b]) => (a < b ? -1 : 1));
  const text = sorted.map(([key, value]) => `${key}\t${value}\n`).join('');
  return {
    get(key) {
      // A binary search between the starts of two lines.
      let first = 0;
      let end = text.length;
      while (first < end) {
        const start = text.lastIndexOf('\n', (first + end) >> 1) + 1;
        const line = start < end && start >= first ? start : first;
        const tab = text.indexOf('\t', line);
        const found = text.slice(line, tab);
        if (found === key) return text.slice(tab + 1, text.indexOf('\n', tab));
        if (found < key) first = text.indexOf('\n', tab) + 1;
        else end = line;
      }
      return undefined;
    },
    lines: () => text.split('\n').slice(0, -1),
  };
}
