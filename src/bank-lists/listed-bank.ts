/** A bank in a directory; fields that the directory does not have are empty. */
export interface ListedBank {
  /** ISO 3166-1 alpha-2 code of the IBANs that contain the bank code. */
  country: string;
  bankCode: string;
  name: string;
  zip: string;
  city: string;
  /** 8 characters, or 11 with the branch, as listed. */
  bic: string;
  /** The publisher of the record. */
  source: string;
  /** ISO date of the published list, or of its import. */
  date: string;
}

/** One row of a directory. */
export interface BankEntry extends Pick<ListedBank, 'bankCode' | 'name' | 'zip' | 'city' | 'bic'> {
  /** The method of the check digit in German account numbers, such as `63`; absent in other directories. */
  accountCheckMethod?: string;
}
