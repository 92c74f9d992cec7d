import { type BankFileFormat, digits } from './bank-file-format.ts';

const workbook = { kind: 'workbook' } as const;

const belgian: BankFileFormat = {
  country: 'BE',
  title: "the National Bank of Belgium's full list of bank codes",
  source: 'National Bank of Belgium',
  download: 'https://www.nbb.be/doc/be/be/protocol/full_list_current.xlsx',
  attribution: 'Source: National Bank of Belgium.',
  layout: workbook,
  columns: { code: 0, bic: 'Biccode', name: [2, 3, 4, 5] },
  code: digits(3),
  findSkipReason: ({ bic = '' }) =>
    /^(VRIJ.*|NAV|NAP|NYA|-)$/i.test(bic) ? 'free or unused codes (VRIJ, NAV, NAP, NYA, -)' : null,
};

const dutch: BankFileFormat = {
  country: 'NL',
  title: "the Betaalvereniging's BIC list",
  source: 'Betaalvereniging Nederland',
  download: 'https://www.betaalvereniging.nl/wp-content/uploads/BIC-lijst-NL.xlsx',
  attribution: 'Source: Betaalvereniging Nederland. For your own use: the data may not be passed on.',
  layout: workbook,
  // In the titles of 2024 and in those of 2026, which are in two languages.
  columns: { bic: 'BIC', code: 'Identifier', name: ['Betaaldienstverlener'] },
  code: { pattern: /^[A-Z]{4}$/, description: '4 capital letters' },
};

const hungarian: BankFileFormat = {
  country: 'HU',
  title: "the Magyar Nemzeti Bank's table of branch codes (sht.xlsx)",
  source: 'Magyar Nemzeti Bank',
  download: 'https://www.mnb.hu/letoltes/sht.xlsx',
  attribution: 'Source: Magyar Nemzeti Bank.',
  layout: workbook,
  columns: { code: 0, bic: 1, name: [2] },
  // 8 digits identify a branch, the first 3 its bank; the first row of a bank is imported.
  code: { pattern: /^\d{3,8}$/, description: '3 to 8 digits', extract: (code) => code.slice(0, 3) },
};

const croatian: BankFileFormat = {
  country: 'HR',
  title: "the Hrvatska narodna banka's list of bank codes",
  source: 'Hrvatska narodna banka',
  download: 'https://www.hnb.hr/documents/20182/121798/tf-pp-ds-vbb-xlsx-e-vbb.xlsx/',
  attribution: 'Source: Hrvatska narodna banka.',
  layout: workbook,
  columns: { name: [1], code: 2, bic: 3 },
  code: digits(7),
};

const finnish: BankFileFormat = {
  country: 'FI',
  title: "Finance Finland's list of monetary institution codes",
  source: 'Finance Finland',
  download: 'https://www.finanssiala.fi/en/topics/payment-services-in-finland/payment-technical-documents/',
  attribution: 'Source: Finance Finland.',
  layout: workbook,
  columns: { code: 0, bic: 1, name: [2] },
  // The first digits of the bank codes of the institution: see country-index.ts.
  code: { pattern: /^\d{1,3}$/, description: '1 to 3 digits' },
};

const norwegian: BankFileFormat = {
  country: 'NO',
  title: 'the list of bank identifiers of Bits',
  source: 'Bits',
  download: 'https://www.bits.no/document/iban/',
  attribution: 'Source: Bits, the infrastructure company of the Norwegian banks.',
  layout: workbook,
  columns: { code: 0, bic: 1, name: [2] },
  code: digits(4),
};

const luxembourgish: BankFileFormat = {
  country: 'LU',
  title: 'the register of IBAN and BIC codes of the ABBL',
  source: 'Association des Banques et Banquiers, Luxembourg',
  download: 'https://www.abbl.lu/publications/abbl-luxembourg-register-of-iban-bic-codes/',
  attribution: 'Source: Association des Banques et Banquiers, Luxembourg (ABBL).',
  layout: workbook,
  columns: { name: [0], code: 1, bic: 2 },
  code: digits(3),
};

export const workbookFormats: readonly BankFileFormat[] = [
  belgian,
  croatian,
  dutch,
  finnish,
  hungarian,
  luxembourgish,
  norwegian,
];
