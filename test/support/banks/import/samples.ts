import {
  type Cells,
  csv,
  entry,
  fixedWidth,
  json,
  noCode,
  type Sample,
  wide,
  workbook,
  wrongCode,
  xml,
} from './sample.ts';

type SampleFile = Omit<Sample, 'encode' | 'skipped'> & Partial<Pick<Sample, 'skipped'>>;

function german(code: string, mark: string, name: string, zip: string, city: string, bic: string, change = 'U'): Cells {
  return [code, mark, name, zip, city, name.slice(0, 27), '', bic, '10', '000001', change, '0', '00000000'];
}

const germanHeader =
  'Bankleitzahl;Merkmal;Bezeichnung;PLZ;Ort;Kurzbezeichnung;PAN;BIC;Prüfzifferberechnungsmethode;Datensatznummer;Änderungskennzeichen;Bankleitzahllöschung;Nachfolge-Bankleitzahl';

const germanContent = {
  rows: [
    german('37040044', '1', 'Commerzbank', '50447', 'Köln', 'COBADEFFXXX'),
    german('37040044', '2', 'Commerzbank', '50321', 'Brühl', ''),
    german('70150000', '1', 'Stadtsparkasse München', '80791', 'München', 'SSKMDEMMXXX'),
    german('10090603', '1', 'Bank ohne BIC', '10115', 'Berlin', ''),
    german('74067000', '1', 'Rb Pfeffenhausen-Rottenburg-Wildenberg -alt-', '84056', 'Rottenburg', 'GENODEF1PFF', 'D'),
  ],
  bank: {
    ...entry('70150000', 'Stadtsparkasse München', 'SSKMDEMMXXX', '80791', 'München'),
    accountCheckMethod: '10',
  },
  skipped: {
    'branches under the bank code of another row (Merkmal 2)': 1,
    'deleted bank codes (Änderungskennzeichen D)': 1,
  },
};

const austrianHeader =
  'Kennzeichen;Identnummer;Bankleitzahl;Institutsart;Sektor;Firmenbuchnummer;Bankenname;Straße;PLZ;Ort;Postadresse / Straße;Postadresse / PLZ;Postadresse / Ort;Postfach;Bundesland;Telefon;Fax;E-Mail;SWIFT-Code;Homepage;Gründungsdatum;LEI';

function austrian(code: string, name: string, zip: string, city: string, bic: string, postalCity = ''): Cells {
  return wide(22, { 0: 'Hauptanstalt', 2: code, 6: name, 8: zip, 9: city, 12: postalCity, 18: bic });
}

const swissHeader =
  'IID/QR-IID;Valid on;Concatenation;New IID/QR-IID;SIC IID;Headquarters;IID type;QR-IID allocation;Name of bank/institution;Street Name;Building Number;Post Code;Town Name;Country;BIC;SIC participation;RTGS customer payments, CHF;IP customer payments, CHF;euroSIC participation;LSV+/BDD, CHF;LSV+/BDD, EUR;202611200000000';

const ecbHeader =
  'RIAD_CODE;BIC;COUNTRY_OF_REGISTRATION;NAME;BOX;ADDRESS;POSTAL;CITY;CATEGORY;HEAD_COUNTRY_OF_REGISTRATION;HEAD_NAME;HEAD_RIAD_CODE;RESERVE;EXEMPT';

const swiss = (iid: string, name: string, zip: string, city: string, country: string, bic: string, merged = 'N') =>
  wide(21, { 0: iid, 1: '2026-11-20', 2: merged, 8: name, 11: zip, 12: city, 13: country, 14: bic });

const swissFile = {
  fileName: 'bankmaster_V3.csv',
  top: [swissHeader.split(';')],
  rows: [
    swiss('230', 'UBS Switzerland AG', '8001', 'Zürich', 'CH', 'UBSWCHZH80A'),
    swiss('761', 'Banque Cantonale Neuchâteloise', '2001', 'Neuchâtel', 'CH', 'BCNNCH22XXX'),
    swiss('8800', 'Liechtensteinische Landesbank AG', '9490', 'Vaduz', 'LI', 'LILALI2XXXX'),
    swiss('4866', '', '', '', '', '', 'Y'),
  ],
  date: '2026-11-20',
  ...csv('utf-8', ';'),
};

function ecbRow(code: string, bic: string, country: string, name: string, zip: string, city: string): Cells {
  return wide(14, { 0: code, 1: bic, 2: country, 3: name, 5: 'Calle 1', 6: zip, 7: city, 8: 'CI' });
}

const ecbFile = {
  fileName: 'fi_mrr_csv_261031.csv',
  date: '2026-10-31',
  top: [ecbHeader.split(';')],
  rows: [
    ecbRow('ES0182', 'BBVAESMMXXX', 'ES', 'Banco Bilbao Vizcaya Argentaria, S.A. «España»', '48005', 'Bilbao'),
    ecbRow('ESW0075543I', 'MSTAESM1XXX', 'ES', 'Morgan Stanley, sucursal', '28006', 'Madrid'),
    ecbRow('FR10107', 'BREDFRPPXXX', 'FR', 'BRED - Banque populaire', '75012', 'Paris'),
    ecbRow('FR11425', '', 'FR', "Caisse d'épargne et de prévoyance", '76230', 'Bois-Guillaume'),
    ecbRow('DE00001', 'MARKDEFFXXX', 'DE', 'Deutsche Bundesbank', '60431', 'Frankfurt am Main'),
  ],
  ...csv('utf-16', '\t'),
};

const danishFile = {
  fileName: 'IBAN-overview.xlsx',
  top: [['IBAN Denmark, Greenland and Faroe Islands 07/06/2026'], ['Country', 'From', 'To', 'BIC', 'Bank name']],
  rows: [
    ['DK', '0001', '0003', 'DKNBDKKK', 'Danmarks Nationalbank'],
    ['DK', 3000, 3004, 'DABADKKK', 'Danske Bank A/S'],
    ['FO', 6460, 6461, 'FIFBFOTX', 'BankNordik P/F, Tórshavn'],
    ['GL', '6471', '', 'GRENGLGX', 'GrønlandsBANKEN A/S'],
  ],
  date: '2026-06-07',
};

const lithuanianHeader =
  'National ID;BIC Code;Financial Institution Name;Branch Name;Legal Entity Code;City;Branch Address;Zip Code;Location;Country';

function lithuanian(code: string, bic: string, name: string, city: string, zip: string): Cells {
  return wide(15, { 0: code, 1: bic, 2: name, 5: city, 7: zip });
}

function polish(code: string, name: string, zip: string, city: string, bic: string): Cells {
  return wide(21, { 0: '1020', 1: name, 4: code, 9: zip, 10: city, 19: bic, 20: 'x' });
}

const texts: readonly (SampleFile & Pick<Sample, 'encode'>)[] = [
  {
    title: 'Bundesbank, CSV',
    country: 'DE',
    fileName: 'blz.csv',
    top: [germanHeader.split(';')],
    ...germanContent,
    ...csv('windows-1252', ';', '"'),
    invalid: [['37040045', '1', 'Zu kurz'], '3 columns; a row of this file has 13'],
  },
  {
    title: 'Bundesbank, fixed width',
    country: 'DE',
    fileName: 'blz.txt',
    top: [],
    ...germanContent,
    ...fixedWidth,
    invalid: [['37040045', '1', 'Zu kurz'], '67 characters; a row of this file has 168'],
  },
  {
    title: 'OeNB',
    country: 'AT',
    fileName: 'sepa-zv-vz.csv',
    top: [
      ['SEPA-Zahlungsverkehrs-Verzeichnis'],
      ['Nutzung nach den Bedingungen vom 1.1.2020'],
      ['Abfragedatum: 20.11.2026'],
      austrianHeader.split(';'),
    ],
    rows: [
      austrian('100', 'Oesterreichische Nationalbank', '1090', 'Wien', 'NABAATWWXXX'),
      austrian('38077', 'Raiffeisenbank Region Fürstenfeld eGen', '8280', 'Fürstenfeld', 'RZSTAT2G077', 'Graz'),
      austrian('', 'Institut ohne Bankleitzahl', '', '', ''),
    ],
    date: '2026-11-20',
    ...csv('iso-8859-1', ';'),
    bank: entry('38077', 'Raiffeisenbank Region Fürstenfeld eGen', 'RZSTAT2G077', '8280', 'Fürstenfeld'),
    skipped: { [noCode]: 1 },
    invalid: [wide(22, { 2: '38O77', 6: 'Tippfehler' }), wrongCode('38O77', '3 to 5 digits')],
  },
  {
    title: 'SIX, Switzerland',
    country: 'CH',
    ...swissFile,
    bank: entry('00761', 'Banque Cantonale Neuchâteloise', 'BCNNCH22XXX', '2001', 'Neuchâtel'),
    skipped: { 'codes that were merged into others (concatenation Y)': 1, 'banks of other countries': 1 },
    invalid: [swiss('23', 'UBS', '8001', 'Zürich', 'CH', ''), wrongCode('23', '3 to 5 digits')],
  },
  {
    title: 'SIX, Liechtenstein',
    country: 'LI',
    ...swissFile,
    bank: entry('08800', 'Liechtensteinische Landesbank AG', 'LILALI2XXXX', '9490', 'Vaduz'),
    skipped: { 'codes that were merged into others (concatenation Y)': 1, 'banks of other countries': 2 },
    invalid: [swiss('8801x', 'Bank', '9490', 'Vaduz', 'LI', ''), wrongCode('8801x', '3 to 5 digits')],
  },
  {
    title: 'ECB, Spain',
    country: 'ES',
    ...ecbFile,
    bank: entry('0182', 'Banco Bilbao Vizcaya Argentaria, S.A. «España»', 'BBVAESMMXXX', '48005', 'Bilbao'),
    skipped: { 'banks of other countries': 3, 'institutions whose RIAD code contains no bank code': 1 },
    invalid: [ecbRow('0182', '', 'ES', 'Banco', '', ''), 'the RIAD code "0182" does not start with a country code'],
  },
  {
    title: 'ECB, France',
    country: 'FR',
    ...ecbFile,
    bank: entry('11425', "Caisse d'épargne et de prévoyance", '', '76230', 'Bois-Guillaume'),
    skipped: { 'banks of other countries': 3 },
    invalid: [ecbRow('FR1010Z', '', 'FR', 'Banque', '', ''), wrongCode('FR1010Z', 'FR and 5 digits')],
  },
  {
    title: 'NBP',
    country: 'PL',
    fileName: 'plewibnra.txt',
    top: [],
    rows: [
      polish('12402395', 'Bank Polska Kasa Opieki Spółka Akcyjna', '90-361', 'Łódź', 'PKOPPLPWXXX'),
      polish('80000001', 'Bank "Rolnik" w Żółwiu', '00-950', 'Żółw', 'POLUPLPRXXX'),
    ],
    ...csv('cp852', '\t'),
    bank: entry('12402395', 'Bank Polska Kasa Opieki Spółka Akcyjna', 'PKOPPLPWXXX', '90-361', 'Łódź'),
    invalid: [polish('1240239', 'Bank', '', '', ''), wrongCode('1240239', '8 digits')],
  },
  {
    title: 'CNB',
    country: 'CZ',
    fileName: 'kody_bank_CR.csv',
    top: [['\ufeffKód platebního styku', 'Poskytovatel platebních služeb', 'BIC kód (SWIFT)', 'Systém CERTIS']],
    rows: [
      ['0800', 'Česká spořitelna, a.s.', 'GIBACZPX', 'A'],
      ['6600', 'Banking Circle S.A.', '', '-'],
      ['0800', 'Česká spořitelna, podruhé', 'GIBACZPX', 'A'],
    ],
    ...csv('utf-8', ';'),
    bank: entry('0800', 'Česká spořitelna, a.s.', 'GIBACZPX'),
    skipped: { 'further rows of an imported bank code': 1 },
    invalid: [['0801', 'Banka', 'GIBACZPX'], '3 columns; a row of this file has 4'],
  },
  {
    title: 'NBS',
    country: 'SK',
    fileName: 'Directory_IC_DPS_SR.csv',
    top: [['Payment system code SR', 'Payment service provider', 'SWIFT 8', 'Payment system SIPS']],
    rows: [
      ['200', 'Všeobecná úverová banka, a.s.', 'SUBASKBX', 'x'],
      ['1100', 'Tatra banka, a.s.', 'TATRSKBX', 'x'],
      ['2010', 'Fio banka, a.s., pobočka zahraničnej banky', 'FIOBCZPP', ''],
    ],
    ...csv('windows-1250', ';'),
    bank: entry('0200', 'Všeobecná úverová banka, a.s.', 'SUBASKBX'),
    invalid: [['11000', 'Banka', 'TATRSKBX', ''], wrongCode('11000', '3 to 4 digits')],
  },
  {
    title: 'BSI',
    country: 'SI',
    fileName: 'psp.txt',
    top: [['Identifier', 'Name', 'Address', 'Post', 'City', 'BIC']],
    rows: [
      ['35001', 'BKS Bank AG, bančna podružnica', '', '', '', 'BFKKSI22'],
      ['79095', 'Klirinško depotna družba', '', '', '', 'KDDSSI22'],
      ['', 'Brez oznake', '', '', '', ''],
    ],
    ...csv('windows-1250', ';'),
    bank: entry('35001', 'BKS Bank AG, bančna podružnica', 'BFKKSI22'),
    skipped: { [noCode]: 1 },
    invalid: [['2000', 'Banka', '', '', '', 'LJBASI2X'], wrongCode('2000', '5 digits')],
  },
  {
    title: 'Lietuvos bankas, CSV',
    country: 'LT',
    fileName: 'FIK_KODAI_20261008-en.csv',
    top: [[...lithuanianHeader.split(';'), '', '', '', '', '']],
    rows: [
      lithuanian('32500', 'REVOLT21', 'Revolut Bank UAB', 'Vilnius', '08130'),
      lithuanian('73000', 'HABALT22', 'Swedbank, AB „Gynėjų“', 'Vilnius', '09308'),
    ],
    date: '2026-10-08',
    ...csv('windows-1257', ';'),
    bank: entry('73000', 'Swedbank, AB „Gynėjų“', 'HABALT22', '09308', 'Vilnius'),
    invalid: [lithuanian('7300', 'HABALT22', 'Bankas', '', ''), wrongCode('7300', '5 digits')],
  },
  {
    title: 'Lietuvos bankas, XML',
    country: 'LT',
    fileName: 'branches.xml',
    top: [['participant BIC', 'participant NAME', 'FICODE', 'NAME']],
    rows: [
      ['REVOLT21', 'Revolut Bank & Co. UAB', '32500', 'Revolut Bank UAB'],
      ['HABALT22', '„Swedbank“, AB', '73000', 'Gynėjų filialas'],
      ['HABALT22', '„Swedbank“, AB', '', 'Filialas be kodo'],
    ],
    ...xml,
    bank: entry('32500', 'Revolut Bank & Co. UAB', 'REVOLT21'),
    skipped: { [noCode]: 1 },
    invalid: [['HABALT22', '„Swedbank“, AB', '7300', ''], wrongCode('7300', '5 digits')],
  },
  {
    title: 'National Bank of Ukraine',
    country: 'UA',
    fileName: 'get_data_branch.json',
    top: [['GLMFO', 'N_GOL', 'SHORTNAME', 'FULLNAME', 'TYP', 'P_IND', 'NP', 'MFO']],
    rows: [
      [300001, 'НБУ', 'НБУ', 'Національний банк України', '0', '01601', 'Київ', 300001],
      [305299, 'АТ КБ "ПриватБанк"', 'Відділення', 'Відділення № 1', '3', '49000', 'Дніпро', 305299],
      [305299, 'АТ КБ "ПриватБанк"', 'ПриватБанк', 'АТ КБ "ПриватБанк"', '0', '01001', 'Київ', 305299],
      [322313, 'АТ "Укрексімбанк"', 'Представництво в Лондоні', '', '6', '', 'Лондон', ''],
    ],
    ...json,
    bank: entry('305299', 'АТ КБ "ПриватБанк"', '', '01001', 'Київ'),
    skipped: { [noCode]: 1, 'departments under the bank code of their bank': 1 },
    invalid: [[305299, '', '', 'Банк', '0', '', '', '30529x'], wrongCode('30529x', '6 digits')],
  },
];

const workbooks: readonly SampleFile[] = [
  {
    title: 'NBB',
    country: 'BE',
    fileName: 'full_list.xlsx',
    top: [
      ['Version 20/11/2026'],
      [
        'T_Identification_Number',
        'Biccode',
        ...['Dutch', 'French', 'German', 'English'].map((l) => `T_Institutions_${l}`),
      ],
    ],
    rows: [
      [1, 'GEBA BE BB', 'BNP Paribas Fortis', '', '', ''],
      ['068', 'GKCC BE BB', '', 'Crédit communal', '', ''],
      ['002', 'VRIJ - LIBRE', 'VRIJ', '', '', ''],
      ['003', 'nav', 'Niet beschikbaar', '', '', ''],
      ['004', '-', 'Streepje', '', '', ''],
      ['005', 'N/A', 'Onbeschikbaar', 'Indisponible', '', ''],
    ],
    date: '2026-11-20',
    bank: entry('068', 'Crédit communal', 'GKCCBEBB'),
    skipped: { 'free or unused codes (VRIJ, NAV, NAP, NYA, N/A, -)': 4 },
    invalid: [['0680', 'GKCC BE BB', 'Bank'], wrongCode('0680', '3 digits')],
  },
  {
    title: 'Betaalvereniging',
    country: 'NL',
    fileName: 'BIC-lijst-NL.xlsx',
    top: [['BIC-lijst-NL'], ['Versie 20-11-2026'], [], ['BIC', 'Identifier', 'Naam betaaldienstverlener']],
    rows: [
      ['ABNANL2A', 'ABNA', 'ABN AMRO Bank N.V. – Zürich'],
      ['', '', 'Bron: Betaalvereniging'],
    ],
    bank: entry('ABNA', 'ABN AMRO Bank N.V. – Zürich', 'ABNANL2A'),
    date: '2026-11-20',
    skipped: { [noCode]: 1 },
    invalid: [['ABNANL2A', 'ABN', 'Bank'], wrongCode('ABN', '4 capital letters')],
  },
  {
    title: 'MNB',
    country: 'HU',
    fileName: 'sht.xlsx',
    top: [['Branch office code', 'BIC code', 'Name', 'Address']],
    rows: [
      ['11701004', 'OTPVHUHB', 'OTP Bevásárlóközpont Fiók', 'Budapest'],
      [11700024, 'OTPVHUHB', 'OTP Központi Fiók', 'Budapest'],
      [11773016, 'OTPVHUHB', 'OTP XVI. kerületi Fiók', 'Budapest'],
    ],
    bank: entry('117', 'OTP Központi Fiók', 'OTPVHUHB'),
    banks: 4,
    invalid: [['117-0002', 'OTPVHUHB', 'OTP'], wrongCode('117-0002', '3 to 8 digits')],
  },
  {
    title: 'HNB',
    country: 'HR',
    fileName: 'vbb.xlsx',
    top: [['Hrvatska narodna banka'], ['Vodeći brojevi banaka 2026'], ['R.br.', 'Naziv', 'VBB', 'BIC']],
    rows: [[1, 'Zagrebačka banka d.d.', 2360000, 'ZABAHR2X']],
    bank: entry('2360000', 'Zagrebačka banka d.d.', 'ZABAHR2X'),
    invalid: [[2, 'Banka', 236000012, 'ZABAHR2X'], wrongCode('236000012', '7 digits')],
  },
  {
    title: 'Finance Finland',
    country: 'FI',
    fileName: 'codes.xlsx',
    top: [['Finnish monetary institution codes 15.3.2026'], ['National ID', 'BIC code', 'Institution']],
    date: '2026-03-15',
    rows: [
      [5, 'OKOYFIHH', 'OP Ryhmä'],
      ['405', 'HELSFIHH', 'Aktia Pankki'],
      ['600', 'AABAFI22', 'Ålandsbanken'],
    ],
    bank: entry('600', 'Ålandsbanken', 'AABAFI22'),
    banks: 102,
    invalid: [['4050', 'HELSFIHH', 'Aktia'], wrongCode('4050', '1 to 3 digits')],
  },
  {
    title: 'Bits',
    country: 'NO',
    fileName: 'norway.xlsx',
    top: [['Bank identifier', 'BIC', 'Bank']],
    rows: [
      [530, 'DNBANOKK', 'DNB Bank ASA'],
      ['4312', 'SPTRNO22', 'Sparebank 1 Sør-Norge'],
    ],
    bank: entry('0530', 'DNB Bank ASA', 'DNBANOKK'),
    invalid: [['860', 'DNBANOKK', 'DNB'], wrongCode('860', '4 digits')],
  },
  {
    title: 'ABBL',
    country: 'LU',
    fileName: 'register.xlsx',
    top: [['Luxembourg Register of IBAN/BIC Codes'], ['2026'], ['Credit institution', 'IBAN Code ', ' BIC Code']],
    rows: [["Banque et Caisse d'Épargne de l'État", 1, 'BCEE LU LL']],
    bank: entry('001', "Banque et Caisse d'Épargne de l'État", 'BCEELULL'),
    invalid: [['Banque', '0001', 'BCEELULL'], wrongCode('0001', '3 digits')],
  },
  {
    title: 'Finance Denmark, Denmark',
    country: 'DK',
    ...danishFile,
    bank: entry('3004', 'Danske Bank A/S', 'DABADKKK'),
    banks: 8,
    skipped: { 'banks of other countries': 2 },
    invalid: [['DK', '9990', '999', 'DABADKKK', 'Bank'], wrongCode('999', '4 digits')],
  },
  {
    title: 'Finance Denmark, Faroe Islands',
    country: 'FO',
    ...danishFile,
    bank: entry('6461', 'BankNordik P/F, Tórshavn', 'FIFBFOTX'),
    banks: 2,
    skipped: { 'banks of other countries': 3 },
    invalid: [
      ['FO', '6469', '6460', 'FIFBFOTX', 'Bank'],
      'the range of bank codes ends with 6460, before its start 6469',
    ],
  },
  {
    title: 'Finance Denmark, Greenland',
    country: 'GL',
    ...danishFile,
    bank: entry('6471', 'GrønlandsBANKEN A/S', 'GRENGLGX'),
    skipped: { 'banks of other countries': 3 },
    invalid: [['GL', '64712', '', 'GRENGLGX', 'Bank'], wrongCode('64712', '4 digits')],
  },
];

/** One for each of the formats. */
export const samples: readonly Sample[] = [...texts, ...workbooks.map((file) => ({ ...file, encode: workbook }))].map(
  (file) => ({ skipped: {}, ...file }),
);

/** A sample by its country; for Germany the CSV. */
export function tSample(country: string): Sample {
  const sample = samples.find((candidate) => candidate.country === country);
  if (sample === undefined) throw new Error(`no sample for ${country}`);
  return sample;
}
