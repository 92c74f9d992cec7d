/** A bank as a directory lists it; a field is empty where the directory does not tell. */
export interface ListedBank {
  /** ISO 3166-1 alpha-2: whose IBANs the bank code stands in. */
  country: string;
  bankCode: string;
  name: string;
  zip: string;
  city: string;
  /** As listed: 8 characters, or 11 with the branch. */
  bic: string;
  /** Who says so. */
  source: string;
  /** ISO date: since when the source says so, or when its file was imported. */
  date: string;
}

/** What one row of a directory says. */
export type BankEntry = Pick<ListedBank, 'bankCode' | 'name' | 'zip' | 'city' | 'bic'>;
