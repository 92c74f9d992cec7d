import type { Row } from './bank-file.ts';
import {
  type BankFileFormat,
  cellText,
  digits,
  type Fields,
  ofOtherCountry,
  paddedDigits,
} from './bank-file-format.ts';
import { addHeadOffices, expandPrefixes, shareBics } from './complete-entries.ts';
import { cadences } from './list-date.ts';

/** The countries whose files can be imported, by code. */
export function importableCountries(): readonly string[] {
  return [...new Set(formats.map(({ country }) => country))].sort();
}

/** All formats, or those of one country, whose last one is used for files that no other matches. */
export function bankFileFormats(country?: string): readonly BankFileFormat[] {
  return formats.filter((format) => country === undefined || format.country === country);
}

type Common = 'cadence' | 'isComplete' | 'attribution';

/** Most lists are complete, are published after each change, and ask for no other attribution than their source. */
type ListFormat = Omit<BankFileFormat, Common> & Partial<Pick<BankFileFormat, Common>>;

const bundesbank = {
  country: 'DE',
  source: 'Deutsche Bundesbank',
  download:
    'https://www.bundesbank.de/de/aufgaben/unbarer-zahlungsverkehr/serviceangebot/bankleitzahlen/download---bankleitzahlen-602592',
  attribution: 'Source: Deutsche Bundesbank, Bankleitzahlendatei (name the source when you pass the data on).',
  cadence: cadences.quarterly,
  code: digits(8),
  findSkipReason({ mark, change }: Fields) {
    if (mark === '2') return 'branches under the bank code of another row (Merkmal 2)';
    // Listed for the last time; invalid from the first valid day of the file.
    return change === 'D' ? 'deleted bank codes (Änderungskennzeichen D)' : null;
  },
  findProblem: ({ mark }: Fields) => (mark === '1' || mark === '2' ? null : `Merkmal is "${mark}"; it must be 1 or 2`),
} satisfies Partial<ListFormat>;

/** German, and names of banks in western Europe. In the encodings of the Mac, ü is what ÿ is here. */
const germanAlphabet = 'äöüßàáâãåæçèéêëìíîïñòóôõøùúûýœšž';

const fixedWidths = [8, 1, 58, 5, 35, 27, 5, 11, 2, 6, 1, 1, 8];

const germanFixedWidth: ListFormat = {
  ...bundesbank,
  title: "the Bundesbank's Bankleitzahlendatei (fixed width)",
  layout: { kind: 'fixed-width', encoding: 'windows-1252', widths: fixedWidths, alphabet: germanAlphabet },
  columns: { code: 0, mark: 1, name: [2], zip: 3, city: 4, bic: 7, accountCheckMethod: 8, change: 10, ibanRule: 13 },
};

const germanCsv: ListFormat = {
  ...bundesbank,
  title: "the Bundesbank's Bankleitzahlendatei (CSV)",
  layout: { kind: 'csv', encoding: 'windows-1252', separator: ';', alphabet: germanAlphabet },
  columns: {
    code: 'Bankleitzahl',
    mark: 'Merkmal',
    name: ['Bezeichnung'],
    zip: 'PLZ',
    city: 'Ort',
    bic: 'BIC',
    accountCheckMethod: 'Prüfzifferberechnungsmethode',
    change: 'Änderungskennzeichen',
    ibanRule: 'IBAN-Regel',
  },
  optional: ['accountCheckMethod', 'ibanRule'],
};

const austrian: ListFormat = {
  country: 'AT',
  title: "the Oesterreichische Nationalbank's SEPA-Zahlungsverkehrs-Verzeichnis",
  source: 'Oesterreichische Nationalbank',
  download: 'https://www.oenb.at/docroot/downloads_observ/sepa-zv-vz_gesamt.csv',
  attribution:
    'Source: Oesterreichische Nationalbank, SEPA-Zahlungsverkehrs-Verzeichnis, CC BY 4.0 ' +
    '(https://creativecommons.org/licenses/by/4.0/), changed: reduced to bank code, name, address and BIC.',
  cadence: cadences.daily,
  layout: { kind: 'csv', encoding: 'windows-1252', separator: ';', alphabet: germanAlphabet },
  columns: { code: 'Bankleitzahl', name: ['Bankenname'], zip: 'PLZ', city: 'Ort', bic: 'SWIFT-Code' },
  code: paddedDigits(3, 5),
};

/** One file contains the banks of both countries, and banks of others that take part in Swiss payments. */
function swiss(country: 'CH' | 'LI'): ListFormat {
  return {
    country,
    title: 'the SIX bank master (V3, CSV)',
    source: 'SIX Interbank Clearing',
    download:
      'https://www.six-group.com/en/products-services/banking-services/interbank-clearing/online-services/download-bank-master.html',
    attribution: 'Source: SIX Interbank Clearing, bank master. For your own use: the data may not be passed on.',
    cadence: cadences.daily,
    isShared: true,
    layout: { kind: 'csv', encoding: 'utf-8', separator: ';' },
    // The header has one more: the creation time of the file.
    width: 21,
    columns: {
      code: 'IID/QR-IID',
      listDate: 'Valid on',
      merged: 'Concatenation',
      name: ['Name of bank/institution'],
      zip: 'Post Code',
      city: 'Town Name',
      location: 'Country',
      bic: 'BIC',
    },
    optional: ['listDate'],
    code: paddedDigits(3, 5),
    findSkipReason({ merged, location }) {
      if (merged === 'Y') return 'codes that were merged into others (concatenation Y)';
      // Swiss IBANs may have the code of any of them but those of Liechtenstein, which have IBANs of their own.
      const isOther = country === 'CH' ? location === 'LI' : location !== country;
      return isOther ? ofOtherCountry : null;
    },
  };
}

/** In these two countries, unlike others, the RIAD code is the country code followed by the bank code. */
function ecbList(country: 'ES' | 'FR', length: number): ListFormat {
  const riadCode = new RegExp(`^${country}\\d{${length}}$`);
  return {
    country,
    title: "the ECB's list of monetary financial institutions (fi_mrr_csv)",
    source: 'European Central Bank',
    download:
      'https://www.ecb.europa.eu/stats/financial_corporations/list_of_financial_institutions/html/monthly_list-MID.en.html',
    attribution: 'Source: European Central Bank, list of monetary financial institutions (cite the ECB as the source).',
    cadence: cadences.monthly,
    // It has no payment institutions.
    isComplete: false,
    isShared: true,
    layout: { kind: 'csv', encoding: 'utf-16', separator: '\t' },
    width: 14,
    columns: { code: 'RIAD code', bic: 'BIC', name: ['name'], zip: 'postal', city: 'city' },
    // Such as `fi_mrr_csv_260930.csv`.
    dateInName: /_(\d\d)(\d\d)(\d\d)\./,
    code: { pattern: riadCode, description: `${country} and ${length} digits`, extract: (code) => code.slice(2) },
    findSkipReason({ code = '' }) {
      if (!code.startsWith(country)) return ofOtherCountry;
      // Branches of foreign banks have their tax number there.
      return code.length === length + 2 ? null : 'institutions whose RIAD code contains no bank code';
    },
    findProblem: ({ code = '' }) =>
      /^[A-Z]{2}\w/.test(code) ? null : `the RIAD code "${code}" does not start with a country code`,
  };
}

const polish: ListFormat = {
  country: 'PL',
  title: "the Narodowy Bank Polski's EWIB list (plewibnra.txt)",
  source: 'Narodowy Bank Polski',
  download: 'https://ewib.nbp.pl/plewibnra?dokNazwa=plewibnra.txt',
  attribution: 'Source: Narodowy Bank Polski, EWIB.',
  // Polish, and names of banks in western and central Europe. In cp775, ą is what đ is here.
  layout: { kind: 'csv', encoding: 'cp852', separator: '\t', alphabet: 'ąćęłńóśźżáäčçéěëíôöőřšťúüůűýžß' },
  columns: { code: 4, name: [1], zip: 9, city: 10, bic: 19 },
  code: digits(8),
  complete: shareBics,
};

const czech: ListFormat = {
  country: 'CZ',
  title: "the Česká národní banka's list of bank codes",
  source: 'Česká národní banka',
  download: 'https://www.cnb.cz/cs/platebni-styk/.galleries/ucty_kody_bank/download/kody_bank_CR.csv',
  attribution: 'Source: Česká národní banka, open data.',
  layout: { kind: 'csv', encoding: 'utf-8', separator: ';' },
  columns: { code: 0, name: [1], bic: 'BIC', certis: 'CERTIS' },
  code: digits(4),
};

const slovak: ListFormat = {
  country: 'SK',
  title: "the Národná banka Slovenska's directory of identification codes",
  source: 'Národná banka Slovenska',
  // The older addresses of the file itself return an old list.
  download:
    'https://nbs.sk/en/payments/general-information/directories-and-registers/directory-identification-codes-domestic-payment-system-in-sr/',
  attribution: 'Source: Národná banka Slovenska (name the source, and do not change the data).',
  // Slovak, and names of Czech, German, Hungarian and Polish banks. In ISO 8859-2, š is what ą is here.
  layout: { kind: 'csv', encoding: 'windows-1250', separator: ';', alphabet: 'áäčďéíĺľňóôŕšťúýžěřůöüßőűęłńż' },
  columns: { code: 0, name: [1], bic: 2 },
  code: paddedDigits(3, 4),
};

const slovenian: ListFormat = {
  country: 'SI',
  title: "the Banka Slovenije's list of payment service providers",
  source: 'Banka Slovenije',
  download: 'https://www.bsi.si (List of identifiers of PSP)',
  // Slovene, and names of Croatian, German, Hungarian and Italian banks. In ISO 8859-2, š is what ą is here, and ž is ľ.
  layout: { kind: 'csv', encoding: 'windows-1250', separator: ';', alphabet: 'čšžćđäöüßáéíóőű' },
  columns: { code: 0, name: [1], bic: 5 },
  code: digits(5),
};

/** Complete, as their publisher assigns the codes, also to payment institutions. */
const lithuanian = {
  country: 'LT',
  source: 'Lietuvos bankas',
  download: 'https://www.lb.lt/en/iban-and-financial-institution-codes',
  code: digits(5),
} satisfies Partial<ListFormat>;

const lithuanianXml: ListFormat = {
  ...lithuanian,
  title: "the Lietuvos bankas's list of participants (branches.aspx, XML)",
  layout: { kind: 'xml', encoding: 'utf-8', group: 'participant', row: 'branch' },
  columns: { code: 'branch FICODE', name: ['participant NAME', 'branch NAME'], bic: 'participant BIC' },
};

const lithuanianCsv: ListFormat = {
  ...lithuanian,
  title: "the Lietuvos bankas's list of bank codes (FIK_KODAI, CSV)",
  // Lithuanian, and names of Nordic and Estonian banks. In ISO 8859-4, ė is what ģ is here.
  layout: { kind: 'csv', encoding: 'windows-1257', separator: ';', alphabet: 'ąčęėįšųūžäöüõåæøé' },
  // Five more are empty.
  width: 10,
  columns: {
    code: 'National ID',
    bic: 'BIC Code',
    name: ['Financial Institution Name'],
    zip: 'Zip Code',
    city: 'City',
  },
};

const ukrainian: ListFormat = {
  country: 'UA',
  title: "the National Bank of Ukraine's directory of banks (get_data_branch, JSON)",
  source: 'National Bank of Ukraine',
  download: 'https://bank.gov.ua/NBU_BankInfo/get_data_branch?json',
  attribution: 'Source: National Bank of Ukraine, open data (name the source).',
  cadence: cadences.daily,
  // It has neither payment institutions nor codes of banks that were closed long ago.
  isComplete: false,
  layout: { kind: 'json', encoding: 'utf-8' },
  columns: {
    code: 'MFO',
    head: 'GLMFO',
    type: 'TYP',
    name: ['FULLNAME', 'SHORTNAME', 'N_GOL'],
    zip: 'P_IND',
    city: 'NP',
  },
  optional: ['head', 'type', 'zip', 'city'],
  code: digits(6),
  findSkipReason: ({ code, head, type = '' }) =>
    code === head && !/^0?$/.test(type) ? 'departments under the bank code of their bank' : null,
};

const workbook = { kind: 'workbook' } as const;

/** One file has the banks of Denmark, then those of the Faroe Islands and of Greenland. */
function danish(country: 'DK' | 'FO' | 'GL'): ListFormat {
  return {
    country,
    title: "Finance Denmark's IBAN overview of Denmark, the Faroe Islands and Greenland",
    source: 'Finance Denmark',
    download: 'https://www.iban-denmark.com/',
    attribution: 'Source: Finance Denmark, IBAN overview.',
    isShared: true,
    layout: workbook,
    // By the description of the publisher, columns B and C are the first and the last number of a range.
    columns: { code: 1, lastCode: 2, bic: ['BIC', 'SWIFT'], name: ['Bank name', 'Institution', 'Name', 'Bank'] },
    code: digits(4),
    matches: (top) =>
      top.some(
        ({ cells: [, from = '', to = ''] }) => /\b(from|fra)\b/i.test(`${from}`) && /\b(to|til)\b/i.test(`${to}`),
      ),
    sections: { first: 'DK', find: findSection },
    findSkipReason: ({ code = '' }) => (/\b(from|fra)\b/i.test(code) || sectionOf(code) !== null ? 'titles' : null),
  };
}

/** A row names its country in a cell, or is a heading of the rows below it. */
function findSection({ cells }: Row): string | null {
  return cells.map((cell) => sectionOf(cellText(cell))).find((found) => found !== null) ?? null;
}

/** The country of a heading, such as `Faroe Islands (FO):`. */
function sectionOf(heading: string): string | null {
  const name = heading.replace(/ ?:$/, '').replace(/ ?\((DK|FO|GL)\)$/i, '');
  return danishSections.find(([names]) => names.test(name))?.[1] ?? null;
}

const danishSections: readonly (readonly [names: RegExp, country: string])[] = [
  [/^(DK|Denmark|Danmark)$/i, 'DK'],
  [/^(FO|(the )?Fae?roe Islands|Færøerne|Føroyar)$/i, 'FO'],
  [/^(GL|Greenland|Grønland|Kalaallit Nunaat)$/i, 'GL'],
];

const belgian: ListFormat = {
  country: 'BE',
  title: "the National Bank of Belgium's full list of bank codes",
  source: 'National Bank of Belgium',
  download: 'https://www.nbb.be/doc/be/be/protocol/full_list_current.xlsx',
  layout: workbook,
  columns: { code: 0, bic: 'Biccode', name: [2, 3, 4, 5] },
  code: digits(3),
  findSkipReason: ({ bic = '', name = '' }) =>
    /^(VRIJ.*|NAV|NAP|NYA|N\/A|-)$/i.test(bic) || /^(vrij|libre|onbeschikbaar|indisponible)\b/i.test(name)
      ? 'free or unused codes (VRIJ, NAV, NAP, NYA, N/A, -)'
      : null,
};

const dutch: ListFormat = {
  country: 'NL',
  title: "the Betaalvereniging's BIC list",
  source: 'Betaalvereniging Nederland',
  download: 'https://www.betaalvereniging.nl/wp-content/uploads/BIC-lijst-NL.xlsx',
  attribution: 'Source: Betaalvereniging Nederland. For your own use: the data may not be passed on.',
  layout: workbook,
  // Words that the titles of 2024 and the bilingual titles of 2026 have in common.
  columns: { bic: 'BIC', code: 'Identifier', name: ['Betaaldienstverlener'] },
  code: { pattern: /^[A-Z]{4}$/, description: '4 capital letters' },
};

const hungarian: ListFormat = {
  country: 'HU',
  title: "the Magyar Nemzeti Bank's table of branch codes (sht.xlsx)",
  source: 'Magyar Nemzeti Bank',
  download: 'https://www.mnb.hu/letoltes/sht.xlsx',
  cadence: cadences.calendarMonth,
  layout: workbook,
  columns: { code: 0, bic: 1, name: [2] },
  code: { pattern: /^\d{3,8}$/, description: '3 to 8 digits' },
  complete: addHeadOffices,
};

const croatian: ListFormat = {
  country: 'HR',
  title: "the Hrvatska narodna banka's list of bank codes",
  source: 'Hrvatska narodna banka',
  download: 'https://www.hnb.hr/documents/20182/121798/tf-pp-ds-vbb-xlsx-e-vbb.xlsx/',
  layout: workbook,
  columns: { name: [1], code: 2, bic: 3 },
  code: digits(7),
};

const finnish: ListFormat = {
  country: 'FI',
  title: "Finance Finland's list of monetary institution codes",
  source: 'Finance Finland',
  download: 'https://www.finanssiala.fi/en/topics/payment-services-in-finland/payment-technical-documents/',
  // Since 2023 it is published only as a PDF: the workbooks lack the codes that were assigned later.
  isComplete: false,
  layout: workbook,
  columns: { code: 0, bic: 1, name: [2] },
  // The first digits of the bank codes of the institution.
  code: { pattern: /^\d{1,3}$/, description: '1 to 3 digits' },
  complete: expandPrefixes,
};

const norwegian: ListFormat = {
  country: 'NO',
  title: 'the list of bank identifiers of Bits',
  source: 'Bits',
  download: 'https://www.bits.no/document/iban/',
  attribution: 'Source: Bits, the infrastructure company of the Norwegian banks.',
  layout: workbook,
  columns: { code: 0, bic: 1, name: [2] },
  code: digits(4),
};

const luxembourgish: ListFormat = {
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
const formats = [
  austrian,
  belgian,
  croatian,
  czech,
  danish('DK'),
  danish('FO'),
  danish('GL'),
  dutch,
  ecbList('ES', 4),
  ecbList('FR', 5),
  finnish,
  germanFixedWidth,
  germanCsv,
  hungarian,
  lithuanianXml,
  lithuanianCsv,
  luxembourgish,
  norwegian,
  polish,
  slovak,
  slovenian,
  swiss('CH'),
  swiss('LI'),
  ukrainian,
].map((format: ListFormat): BankFileFormat => {
  return { cadence: cadences.onChange, isComplete: true, attribution: `Source: ${format.source}.`, ...format };
});
