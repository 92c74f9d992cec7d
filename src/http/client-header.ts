/**
 * The name or version of a client, for the log: short and printable. Empty if it is missing. Tabs and others become spaces,
 * between which an IBAN is still recognized.
 */
export function readClientHeader(header: string | string[] | undefined): string {
  return header === undefined ? '' : String(header).slice(0, maxLength).replace(unprintable, ' ');
}

const maxLength = 100;
const unprintable = /[^\x20-\x7e]/g;
