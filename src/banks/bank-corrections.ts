import { fullBic } from '../iban/bic.ts';
import { closedBanks } from './closed-banks.ts';
import type { ListedBank } from './listed-bank.ts';

/*
 * Our corrections of bank lists: rows that are wrong, missing or out of date in the npm packages, and BICs of registers of
 * institutions that are not those of their accounts. Each correction has the kind of its source beside it:
 * another published list, or payment details (IBAN and BIC) that account holders publish.
 */

interface Correction {
  /** The bank codes that it adds, corrects or removes. */
  bankCodes: readonly string[] | RegisterBic;
  /** The BIC on account statements; null if the bank code is not in use any more. */
  bic: string | ((bankCode: string) => string) | null;
  /** For banks that the list does not name. */
  name: string;
  /** Why it is right: it becomes part of the source of the record. */
  reason: string;
}

/** All bank codes with a register BIC that begins like this. */
interface RegisterBic {
  registerBic: string;
}

/** The date of the latest correction, in ISO 8601. */
export const correctionsDate = '2026-11-27';

/** Whether the list of this country is a register of institutions, whose BICs may not be those of their accounts. */
export function isRegister(country: string): boolean {
  return country === 'FR' || country === 'ES';
}

/** The list of a country with our corrections: rows are corrected, added or removed, and closed banks added as deleted. */
export function correctBanks(country: string, banks: readonly ListedBank[]): ListedBank[] {
  const found = corrections[country];
  if (found === undefined) return [...banks];
  const corrected = new Map(banks.map((bank) => [bank.bankCode, bank]));
  for (const correction of found) {
    for (const bankCode of codesOf(correction, banks)) {
      const bank = correctBank(country, bankCode, correction, corrected.get(bankCode));
      if (bank === null) corrected.delete(bankCode);
      else corrected.set(bankCode, bank);
    }
  }
  for (const bank of closedBanks(country)) {
    if (!corrected.has(bank.bankCode)) corrected.set(bank.bankCode, bank);
  }
  return [...corrected.values()];
}

function codesOf({ bankCodes }: Correction, banks: readonly ListedBank[]): readonly string[] {
  if (!('registerBic' in bankCodes)) return bankCodes;
  return banks.filter(({ bic }) => bic.startsWith(bankCodes.registerBic)).map(({ bankCode }) => bankCode);
}

/** Null if the bank code is not in use any more. A row that is right already, such as one of a newer list, is unchanged. */
function correctBank(
  country: string,
  bankCode: string,
  { bic: rule, name, reason }: Correction,
  listed: ListedBank | undefined,
): ListedBank | null {
  const bic = typeof rule === 'function' ? rule(bankCode) : rule;
  if (bic === null) return null;
  if (listed && fullBic(listed.bic) === fullBic(bic))
    return name === '' ? listed : { ...listed, name: listed.name || name };
  const bicSource = 'CORRECTED';
  if (listed === undefined) {
    return { country, bankCode, name, zip: '', city: '', bic, bicSource, source: reason, date: correctionsDate };
  }
  const source = `${listed.source}; BIC from ${reason} (${correctionsDate})`;
  return { ...listed, name: listed.name || name, bic, bicSource, source };
}

const statements = 'payment details that account holders publish';
const lists = 'newer lists of the banks of the country';
const bics = 'a list of BICs of 2024';
const both = `${lists}, and ${bics}`;

/** In Austria, the bank codes of the merged banks remain in use, with the BIC of the bank that they merged into. */
const raiffeisenMergers: readonly [bankCodes: string[], bic: string, name: string][] = [
  [['33106'], 'RLBBAT2E072', 'Region Parndorf - Weiden am See'],
  [['34165'], 'RZOOAT2L491', 'Pyhrn-Priel'],
  [['34313'], 'RZOOAT2L736', 'Region Grieskirchen'],
  [['34356'], 'RZOOAT2L523', 'Attergau'],
  [['34750'], 'RZOOAT2L083', 'Region Traun-Alm'],
  [['36291'], 'RZTIAT22268', 'im Ötztal und Umgebung'],
  [['38001'], 'RZSTAT2G215', 'Region Liezen'],
  [['38043', '38375'], 'RZSTAT2G487', 'Weststeiermark'],
  [['38072', '38477'], 'RZSTAT2G210', 'Kalsdorf-Lieboch-Stainz'],
  [['38128', '38436'], 'RZSTAT2G312', 'Region Radkersburg'],
  [['38292', '38499'], 'RZSTAT2G102', 'Gleinstätten-Leutschach-Wildon'],
  [['39257', '39305'], 'RZKTAT2K496', 'Region Villach'],
  [['39271'], 'RZKTAT2K546', 'Völkermarkt-Bleiburg-Brückl'],
  [['39381'], 'RZKTAT2K390', 'Wörthersee-Landskron-Gegendtal'],
  [['39543'], 'RZKTAT2K364', 'Karnische Region'],
];

const corrections: Readonly<Record<string, readonly Correction[]>> = {
  AT: [
    // The package leaves out some kinds of banks, such as regional mortgage banks and building societies.
    { bankCodes: ['00100'], bic: 'NABAATWW', name: 'Oesterreichische Nationalbank', reason: lists },
    { bankCodes: ['10000'], bic: 'OEKOATWW', name: 'Oesterreichische Kontrollbank', reason: lists },
    { bankCodes: ['19380'], bic: 'DENEATW1', name: 'Bankhaus Denzel', reason: lists },
    { bankCodes: ['19390'], bic: 'BMASAT21', name: 'BMW Austria Bank', reason: lists },
    { bankCodes: ['19950'], bic: 'WUBUAT2S', name: 'Bausparkasse Wüstenrot', reason: lists },
    { bankCodes: ['24012'], bic: 'BAOSATWW', name: 'Bausparkasse der österreichischen Sparkassen', reason: lists },
    { bankCodes: ['31303'], bic: 'RBSKATW1', name: 'Raiffeisen Bausparkasse', reason: lists },
    { bankCodes: ['43510'], bic: 'ABVRATW1', name: 'start:bausparkasse', reason: lists },
    { bankCodes: ['51000'], bic: 'EHBBAT2E', name: 'Bank Burgenland', reason: lists },
    { bankCodes: ['52000'], bic: 'HAABAT2K', name: 'Austrian Anadi Bank', reason: lists },
    { bankCodes: ['53000'], bic: 'HYPNATWW', name: 'HYPO NOE Landesbank', reason: lists },
    { bankCodes: ['54000'], bic: 'OBLAAT2L', name: 'Hypo Oberösterreich', reason: statements },
    { bankCodes: ['57000'], bic: 'HYPTAT22', name: 'Hypo Tirol Bank', reason: statements },
    { bankCodes: ['58000'], bic: 'HYPVAT2B', name: 'Hypo Vorarlberg Bank', reason: statements },
    { bankCodes: ['76022', '76040'], bic: 'VIAUATW1', name: 'card complete Service Bank', reason: lists },
    { bankCodes: ['14001', '14002'], bic: 'BAWAATWW', name: 'BAWAG P.S.K.', reason: both },
    { bankCodes: ['01000'], bic: 'BUNDATWW', name: 'Republik Österreich', reason: both },
    { bankCodes: ['18120'], bic: 'PABXATW1', name: 'A1 Bank', reason: lists },
    { bankCodes: ['19170'], bic: 'PABAAT2L', name: 'Partner Bank', reason: both },
    { bankCodes: ['19931'], bic: 'CENBATWWRDB', name: 'Raiffeisen Digital Bank', reason: both },
    { bankCodes: ['53100'], bic: 'HYPNATWWLDS', name: 'HYPO NOE Landesbank', reason: both },
    { bankCodes: ['57100'], bic: 'HYPTAT22', name: 'Hypo Tirol Bank', reason: both },
    { bankCodes: ['76000'], bic: 'PORCAT21', name: 'Porsche Bank', reason: lists },
    // New.
    { bankCodes: ['19001'], bic: 'TRBKATW2XXX', name: 'Trade Republic Bank', reason: statements },
    { bankCodes: ['19930'], bic: 'CENBATWWXXX', name: '', reason: lists },
    // Changed with mergers.
    { bankCodes: ['32367'], bic: 'RLNWATW1880', name: '', reason: statements },
    { bankCodes: ['36316'], bic: 'RZTIAT22268', name: '', reason: lists },
    { bankCodes: ['39500'], bic: 'RZKTAT2K491', name: '', reason: lists },
    { bankCodes: ['19510'], bic: 'COPRATWW', name: 'Liechtensteinische Landesbank (Österreich)', reason: both },
    ...raiffeisenMergers.map(([bankCodes, bic, name]) => ({
      ...{ bankCodes, bic, name: `Raiffeisenbank ${name}`, reason: lists },
    })),
  ],
  BE: [
    { bankCodes: ['115'], bic: 'PAUIBE22', name: '', reason: lists },
    { bankCodes: ['116'], bic: 'ATMNBE32', name: '', reason: lists },
    { bankCodes: ['128'], bic: 'MPSNBE92', name: '', reason: lists },
    { bankCodes: ['603', '604'], bic: 'SWNBBEB2', name: 'Swan', reason: lists },
    { bankCodes: ['640'], bic: 'KREDBEBB', name: 'KBC', reason: lists },
    { bankCodes: ['679'], bic: 'GEBABEBB', name: 'BNP Paribas Fortis', reason: lists },
    // Merged into Crelan in 2024.
    { bankCodes: ['766', '771', '812', '813', '815', '816'], bic: null, name: '', reason: '' },
    { bankCodes: ['903'], bic: 'TRWIBEB1', name: 'Wise', reason: lists },
    { bankCodes: ['904'], bic: 'TRWIBEBB', name: 'Wise', reason: lists },
    { bankCodes: ['695'], bic: 'MGTCBEBE', name: 'Euroclear Bank', reason: both },
    { bankCodes: ['948'], bic: 'HOMNBEB2', name: '', reason: lists },
    { bankCodes: ['941'], bic: 'DEGRBEBB', name: 'Bank Degroof Petercam', reason: lists },
  ],
  ES: [
    { bankCodes: ['1491'], bic: 'TRIOESMM', name: 'Triodos Bank', reason: lists },
    { bankCodes: ['0144'], bic: 'PARBESMX', name: 'BNP Paribas Securities Services', reason: both },
    { bankCodes: ['0168'], bic: 'BBRUESMX', name: 'ING Belgium', reason: both },
    { bankCodes: ['1488'], bic: 'PICTESMM', name: 'Pictet & Cie (Europe)', reason: both },
    { bankCodes: ['1525'], bic: 'BCDMESMM', name: 'Banque Chaabi du Maroc', reason: both },
    { bankCodes: ['1541'], bic: 'BCMAESMM', name: 'Attijariwafa Bank Europe', reason: both },
    { bankCodes: ['1545'], bic: 'AGRIESMM', name: 'CA Indosuez Wealth (Europe)', reason: both },
    { bankCodes: ['1552'], bic: 'MIRAESMM', name: 'Mirabaud & Cie (Europe)', reason: both },
    { bankCodes: ['6717'], bic: 'BNXTESM2', name: 'Bnext Electronic Issuer', reason: both },
    { bankCodes: ['6723'], bic: 'MODRESB2', name: 'Modulr Finance', reason: both },
    { bankCodes: ['0149'], bic: 'BNPAESMS', name: '', reason: statements },
    { bankCodes: ['0162'], bic: 'MIDLESMM', name: '', reason: both },
    // The register has BICs of their branches.
    { bankCodes: ['0019'], bic: 'DEUTESBB', name: '', reason: both },
    { bankCodes: ['0108'], bic: 'SOGEESMM', name: '', reason: both },
    { bankCodes: ['0159'], bic: 'COBAESMX', name: '', reason: both },
    { bankCodes: ['0167'], bic: 'GEBAESMM', name: '', reason: both },
    { bankCodes: ['2080'], bic: 'CAGLESMM', name: '', reason: both },
    { bankCodes: ['1563'], bic: 'NTSBESM1', name: 'N26 Bank', reason: statements },
    { bankCodes: ['1586'], bic: 'TRBKESM2', name: 'Trade Republic Bank', reason: statements },
  ],
  FR: [
    // The regional banks: the digits are the second and third of the bank code, 882 for 18206.
    {
      bankCodes: { registerBic: 'AGRIFRCC' },
      bic: (bankCode) => `AGRIFRPP8${bankCode.slice(1, 3)}`,
      name: 'Crédit Agricole',
      reason: `the rule of Crédit Agricole and ${statements}`,
    },
    // The regional banks: the digits are the second to fourth of the bank code, 751 for 17515.
    {
      bankCodes: [
        ...['11425', '12135', '13135', '13335', '13485', '13825', '14265'],
        ...['14445', '14505', '15135', '16275', '17515', '18025', '18315', '18715'],
      ],
      bic: (bankCode) => `CEPAFRPP${bankCode.slice(1, 4)}`,
      name: "Caisse d'Épargne",
      reason: `the rule of Caisse d'Épargne and ${statements}`,
    },
    // The exception.
    { bankCodes: ['11315'], bic: 'CEPAFRPPXXX', name: "Caisse d'Épargne CEPAC", reason: statements },
    { bankCodes: ['10278', '11899', '15629', '16159'], bic: 'CMCIFR2A', name: 'Crédit Mutuel', reason: statements },
    { bankCodes: ['14690'], bic: 'CMCIFRP1', name: 'Monabanq', reason: statements },
    { bankCodes: ['30066'], bic: 'CMCIFRPPXXX', name: 'Crédit Industriel et Commercial (CIC)', reason: statements },
    { bankCodes: ['10057'], bic: 'CMCIFRPP', name: 'CIC Sud Ouest', reason: statements },
    { bankCodes: ['10096'], bic: 'CMCIFRPP', name: 'CIC Lyonnaise de Banque', reason: statements },
    { bankCodes: ['30027'], bic: 'CMCIFRPP', name: 'CIC Nord Ouest', reason: statements },
    { bankCodes: ['30047'], bic: 'CMCIFRPP', name: 'CIC Ouest', reason: statements },
    { bankCodes: ['30087'], bic: 'CMCIFRPP', name: 'CIC Est', reason: statements },
    { bankCodes: ['11438'], bic: 'HRFRFRP1', name: 'Banque Hottinguer', reason: bics },
    { bankCodes: ['13369'], bic: 'BMMMFR2A', name: 'Banque Martin Maurel', reason: bics },
    { bankCodes: ['14940'], bic: 'CFFIFR21', name: '', reason: bics },
    { bankCodes: ['40618'], bic: 'BOUSFRPPXXX', name: 'BoursoBank', reason: statements },
    { bankCodes: ['12239'], bic: 'CEPAPFTP', name: 'Banque de Tahiti', reason: both },
    { bankCodes: ['13088'], bic: 'BNPAMQMX', name: 'BNP Paribas Martinique', reason: both },
    { bankCodes: ['15930'], bic: 'NATXFRPPPAI', name: 'Natixis Payment Solutions', reason: both },
    { bankCodes: ['16989'], bic: 'MOBQFR22', name: 'Mobilis Banque', reason: both },
    { bankCodes: ['18079'], bic: 'CCDFFRPP', name: 'CCF', reason: both },
    { bankCodes: ['18319'], bic: 'SOGENCNN', name: 'Société Générale Calédonienne de Banque', reason: both },
    { bankCodes: ['18919'], bic: 'NATXFRPPBPS', name: 'Natixis Wealth Management', reason: both },
    { bankCodes: ['26733'], bic: 'SOXAFR2L', name: 'Sogexia', reason: both },
    { bankCodes: ['30568', '41199'], bic: 'CMCIFRPP', name: 'Crédit Industriel et Commercial (CIC)', reason: both },
    { bankCodes: ['11628', '15489'], bic: 'CMCIFR2A', name: 'Crédit Mutuel', reason: both },
    { bankCodes: ['12149'], bic: 'BPOLPFTP', name: 'Banque de Polynésie', reason: statements },
    { bankCodes: ['12579'], bic: 'BPSMFRPP', name: 'Banque BCP', reason: both },
    { bankCodes: ['13179'], bic: 'FIDCFR21', name: 'Fiducial Banque', reason: lists },
    { bankCodes: ['13580'], bic: 'FACFFRPP', name: 'Factofrance', reason: both },
    { bankCodes: ['15900'], bic: 'FEFIFR21', name: 'Federal Finance', reason: lists },
    { bankCodes: ['16338'], bic: 'AFOPFR21', name: 'Afone Paiement', reason: lists },
    { bankCodes: ['18020'], bic: 'BNPCFR21', name: 'BNP Paribas Factor', reason: lists },
    { bankCodes: ['19733'], bic: 'OPSPFR21OKL', name: 'Olky Payment Service Provider', reason: statements },
    { bankCodes: ['30788'], bic: 'NSMBFRPP', name: 'Banque Neuflize OBC', reason: statements },
    { bankCodes: ['42649'], bic: 'TRAVFRPP', name: 'Banque Travelex', reason: lists },
    { bankCodes: ['44319'], bic: 'PREUFRP1', name: 'Banque Privée Européenne (BPE)', reason: lists },
    { bankCodes: ['16218'], bic: 'BFBKFRP1', name: 'BforBank', reason: statements },
    { bankCodes: ['17679'], bic: 'SBEXFRP1', name: '', reason: lists },
    { bankCodes: ['20033'], bic: 'FXBBFRPP', name: 'iBanFirst', reason: both },
    { bankCodes: ['43849'], bic: 'UTUBFRPP', name: 'Tunisian Foreign Bank', reason: both },
    // The register has BICs of their branches.
    { bankCodes: ['11689'], bic: 'CITIFRPP', name: '', reason: both },
    { bankCodes: ['12879'], bic: 'DELUFR22', name: '', reason: both },
    { bankCodes: ['17629'], bic: 'COBAFRPX', name: '', reason: both },
    { bankCodes: ['17789'], bic: 'DEUTFRPP', name: '', reason: both },
    { bankCodes: ['23890'], bic: 'BCMAFRPP', name: '', reason: both },
    { bankCodes: ['41189'], bic: 'BBVAFRPP', name: '', reason: both },
    { bankCodes: ['44149'], bic: 'ESCBFRPP', name: '', reason: both },
    { bankCodes: ['10011'], bic: 'PSSTFRPPCNE', name: 'La Banque Postale', reason: statements },
    { bankCodes: ['10071'], bic: 'TRPUFRP1', name: 'Trésor public', reason: statements },
    { bankCodes: ['14168'], bic: 'OFTPPFT1', name: 'OPT de Polynésie française', reason: statements },
    { bankCodes: ['14518'], bic: 'FTNOFRP1', name: 'Fortuneo', reason: lists },
    { bankCodes: ['15607'], bic: 'CCBPFRPPNCE', name: 'Banque Populaire', reason: statements },
    { bankCodes: ['16598'], bic: 'FPELFR21', name: 'Nickel', reason: lists },
    { bankCodes: ['16707'], bic: 'CCBPFRPPREN', name: 'Banque Populaire', reason: lists },
    { bankCodes: ['16798'], bic: 'TRZOFR21', name: 'Treezor', reason: statements },
    { bankCodes: ['16958'], bic: 'QNTOFRP1XXX', name: 'Qonto', reason: statements },
    { bankCodes: ['17328'], bic: 'SWNBFR22', name: 'Swan', reason: statements },
    { bankCodes: ['17418'], bic: 'SNNNFR22', name: 'Shine', reason: statements },
    { bankCodes: ['17448'], bic: 'SFPEFRP2', name: 'Okali', reason: statements },
    { bankCodes: ['17469'], bic: 'SOCBPFTX', name: 'Banque Socredo', reason: statements },
    { bankCodes: ['17499'], bic: 'BCADNCNN', name: "Banque Calédonienne d'Investissement", reason: statements },
    { bankCodes: ['17598'], bic: 'LYDIFRP2', name: 'Lydia', reason: statements },
    { bankCodes: ['18829'], bic: 'CMBRFR2BCME', name: 'Crédit Mutuel Arkéa', reason: statements },
    { bankCodes: ['20433'], bic: 'NTSBFRM1', name: 'N26 Bank', reason: statements },
    { bankCodes: ['21833'], bic: 'PRNSFRP1', name: 'Prepaid Financial Services', reason: statements },
    { bankCodes: ['21933'], bic: 'MPAYFRP1', name: 'Mangopay', reason: statements },
    { bankCodes: ['25733'], bic: 'PSSSFR22', name: 'PPS EU', reason: statements },
    { bankCodes: ['27633'], bic: 'BUNQFRP2', name: 'bunq', reason: statements },
    { bankCodes: ['28233'], bic: 'REVOFRP2', name: 'Revolut Bank', reason: statements },
    { bankCodes: ['30001'], bic: 'BDFEFRPPCCT', name: 'Banque de France', reason: statements },
    { bankCodes: ['30833'], bic: 'FNOMFRP2', name: 'Finom', reason: statements },
    { bankCodes: ['42559'], bic: 'CCOPFRPP', name: 'Crédit Coopératif', reason: statements },
  ],
  LU: [
    { bankCodes: ['082'], bic: 'EWUBLULL', name: 'East-West United Bank', reason: both },
    { bankCodes: ['097'], bic: 'HSHNLULL', name: 'HCOB Securities', reason: both },
    { bankCodes: ['204'], bic: 'NBLXLULL', name: 'Nomura Bank (Luxembourg)', reason: both },
    { bankCodes: ['420'], bic: 'ABOCLULL', name: 'Agricultural Bank of China (Luxembourg)', reason: both },
    { bankCodes: ['421'], bic: 'EVERLULX', name: '', reason: lists },
    { bankCodes: ['422'], bic: 'ABOCLULB', name: '', reason: lists },
    { bankCodes: ['423'], bic: 'INVLLULL', name: '', reason: lists },
  ],
  NL: [
    { bankCodes: ['BUUT'], bic: 'BUUTNL2A', name: 'BUUT', reason: lists },
    { bankCodes: ['CEPA'], bic: 'CEPANL2A', name: '', reason: lists },
    { bankCodes: ['CLRB'], bic: 'CLRBNL2A', name: 'ClearBank Europe', reason: lists },
    { bankCodes: ['MLLE'], bic: 'MLLENL2A', name: 'Mollie', reason: lists },
    { bankCodes: ['WOFT'], bic: 'WOFTNL22', name: 'World First', reason: lists },
  ],
};
