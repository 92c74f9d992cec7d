import { type BankFileFormat, digits, type Fields, paddedDigits } from './bank-file-format.ts';

/** The countries whose files can be imported, by code. */
export function importableCountries(): readonly string[] {
  return [...new Set(formats.map(({ country }) => country))].sort();
}

/** The formats of one country; the last one is used for files that no other matches. */
export function bankFileFormats(country: string): readonly BankFileFormat[] {
  return formats.filter((format) => format.country === country);
}

const bundesbank = {
  country: 'DE',
  source: 'Deutsche Bundesbank',
  download:
    'https://www.bundesbank.de/de/aufgaben/unbarer-zahlungsverkehr/serviceangebot/bankleitzahlen/download---bankleitzahlen-602592',
  attribution: 'Source: Deutsche Bundesbank, Bankleitzahlendatei (name the source when you pass the data on).',
  code: digits(8),
  findSkipReason({ mark, change }: Fields) {
    if (mark === '2') return 'branches under the bank code of another row (Merkmal 2)';
    // Listed for the last time; invalid from the first valid day of the file.
    return change === 'D' ? 'deleted bank codes (Änderungskennzeichen D)' : null;
  },
  findProblem: ({ mark }: Fields) => (mark === '1' || mark === '2' ? null : `Merkmal is "${mark}"; it must be 1 or 2`),
} satisfies Partial<BankFileFormat>;

const fixedWidths = [8, 1, 58, 5, 35, 27, 5, 11, 2, 6, 1, 1, 8];

const germanFixedWidth: BankFileFormat = {
  ...bundesbank,
  title: "the Bundesbank's Bankleitzahlendatei (fixed width)",
  layout: { kind: 'fixed-width', encoding: 'windows-1252', widths: fixedWidths },
  columns: { code: 0, mark: 1, name: [2], zip: 3, city: 4, bic: 7, change: 10 },
  matches: (firstLine) => /^\d{8}[^;]*$/.test(firstLine),
};

const germanCsv: BankFileFormat = {
  ...bundesbank,
  title: "the Bundesbank's Bankleitzahlendatei (CSV)",
  layout: { kind: 'csv', encoding: 'windows-1252', separator: ';' },
  width: 13,
  columns: {
    code: 'Bankleitzahl',
    mark: 'Merkmal',
    name: ['Bezeichnung'],
    zip: 'PLZ',
    city: 'Ort',
    bic: 'BIC',
    change: 'Änderungskennzeichen',
  },
};

const austrian: BankFileFormat = {
  country: 'AT',
  title: "the Oesterreichische Nationalbank's SEPA-Zahlungsverkehrs-Verzeichnis",
  source: 'Oesterreichische Nationalbank',
  download: 'https://www.oenb.at/docroot/downloads_observ/sepa-zv-vz_gesamt.csv',
  attribution:
    'Source: Oesterreichische Nationalbank, SEPA-Zahlungsverkehrs-Verzeichnis, CC BY 4.0 ' +
    '(https://creativecommons.org/licenses/by/4.0/), changed: reduced to bank code, name, address and BIC.',
  layout: { kind: 'csv', encoding: 'iso-8859-1', separator: ';' },
  columns: { code: 'Bankleitzahl', name: ['Bankenname'], zip: 'PLZ', city: 'Ort', bic: 'SWIFT-Code' },
  code: paddedDigits(3, 5),
};

/** One file contains the banks of both countries, and some of others. */
function swiss(country: 'CH' | 'LI'): BankFileFormat {
  return {
    country,
    title: 'the SIX bank master (V3, CSV)',
    source: 'SIX Interbank Clearing',
    download:
      'https://www.six-group.com/en/products-services/banking-services/interbank-clearing/online-services/download-bank-master.html',
    attribution: 'Source: SIX Interbank Clearing, bank master. For your own use: the data may not be passed on.',
    layout: { kind: 'csv', encoding: 'utf-8', separator: ';' },
    // The header has one more: the creation time of the file.
    width: 21,
    columns: {
      code: 'IID/QR-IID',
      merged: 'Concatenation',
      name: ['Name of bank/institution'],
      zip: 'Post Code',
      city: 'Town Name',
      location: 'Country',
      bic: 'BIC',
    },
    code: paddedDigits(3, 5),
    findSkipReason({ merged, location }) {
      if (merged === 'Y') return 'codes that were merged into others (concatenation Y)';
      return location === country ? null : 'banks of other countries';
    },
  };
}

/** In these two countries, unlike others, the RIAD code is the country code followed by the bank code. */
function ecbList(country: 'ES' | 'FR', length: number): BankFileFormat {
  const riadCode = new RegExp(`^${country}\\d{${length}}$`);
  return {
    country,
    title: "the ECB's list of monetary financial institutions (fi_mrr_csv)",
    source: 'European Central Bank',
    download:
      'https://www.ecb.europa.eu/stats/financial_corporations/list_of_financial_institutions/html/monthly_list-MID.en.html',
    attribution: 'Source: European Central Bank, list of monetary financial institutions (cite the ECB as the source).',
    layout: { kind: 'csv', encoding: 'utf-16', separator: '\t' },
    width: 14,
    columns: { code: 'RIAD code', bic: 'BIC', name: ['name'], zip: 'postal', city: 'city' },
    code: { pattern: riadCode, description: `${country} and ${length} digits`, extract: (code) => code.slice(2) },
    findSkipReason({ code = '' }) {
      if (!code.startsWith(country)) return 'institutions of other countries';
      // Branches of foreign banks have their tax number there.
      return code.length === length + 2 ? null : 'institutions whose RIAD code contains no bank code';
    },
    findProblem: ({ code = '' }) =>
      /^[A-Z]{2}\w/.test(code) ? null : `the RIAD code "${code}" does not start with a country code`,
  };
}

const polish: BankFileFormat = {
  country: 'PL',
  title: "the Narodowy Bank Polski's EWIB list (plewibnra.txt)",
  source: 'Narodowy Bank Polski',
  download: 'https://ewib.nbp.pl/plewibnra?dokNazwa=plewibnra.txt',
  attribution: 'Source: Narodowy Bank Polski, EWIB.',
  layout: { kind: 'csv', encoding: 'cp852', separator: '\t' },
  columns: { code: 4, name: [1], zip: 9, city: 10, bic: 19 },
  code: digits(8),
};

const czech: BankFileFormat = {
  country: 'CZ',
  title: "the Česká národní banka's list of bank codes",
  source: 'Česká národní banka',
  download: 'https://www.cnb.cz/cs/platebni-styk/.galleries/ucty_kody_bank/download/kody_bank_CR.csv',
  attribution: 'Source: Česká národní banka, open data.',
  layout: { kind: 'csv', encoding: 'utf-8', separator: ';' },
  columns: { code: 0, name: [1], bic: 'BIC', certis: 'CERTIS' },
  code: digits(4),
};

const slovak: BankFileFormat = {
  country: 'SK',
  title: "the Národná banka Slovenska's directory of identification codes",
  source: 'Národná banka Slovenska',
  download: 'https://www.nbs.sk/_img/Documents/_PlatobneSystemy/EUROSIPS/Directory_IC_DPS_SR.csv',
  attribution: 'Source: Národná banka Slovenska.',
  layout: { kind: 'csv', encoding: 'windows-1250', separator: ';' },
  columns: { code: 0, name: [1], bic: 2 },
  code: paddedDigits(3, 4),
};

const slovenian: BankFileFormat = {
  country: 'SI',
  title: "the Banka Slovenije's list of payment service providers",
  source: 'Banka Slovenije',
  download: 'https://www.bsi.si (List of identifiers of PSP)',
  attribution: 'Source: Banka Slovenije.',
  layout: { kind: 'csv', encoding: 'iso-8859-1', separator: ';' },
  columns: { code: 0, name: [1], bic: 5 },
  code: digits(5),
};

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

/** The last of several formats of a country is used for files that no other matches. */
const formats: readonly BankFileFormat[] = [
  austrian,
  belgian,
  croatian,
  czech,
  dutch,
  ecbList('ES', 4),
  ecbList('FR', 5),
  finnish,
  germanFixedWidth,
  germanCsv,
  hungarian,
  luxembourgish,
  norwegian,
  polish,
  slovak,
  slovenian,
  swiss('CH'),
  swiss('LI'),
];
