export interface Payee {
  id: string;
  name: string;
  iban: string;
}

/** Fictitious payees with example IBANs of registries and banks. The last IBAN has wrong check digits. */
export const payees: readonly Payee[] = [
  { id: '1', name: 'Alster Stationers', iban: 'DE89370400440532013000' },
  { id: '2', name: 'Alster Stationers, repairs', iban: 'DE89370400440532013000' },
  { id: '3', name: 'Bergmann Bikes', iban: 'DE44500105175407324931' },
  { id: '4', name: 'Canal Books', iban: 'NL91ABNA0417164300' },
  { id: '5', name: 'Dover Tea', iban: 'GB28NWBK60161331926819' },
];
