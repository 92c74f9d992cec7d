/** First and last position in the BBAN, from 1, inclusive. */
export type Positions = readonly [first: number, last: number];

/** One country of the registry. */
export type RegistryRow = readonly [
  format: string,
  example: string,
  sepa: 'SEPA' | null,
  bankCode: Positions,
  branch?: Positions | null,
  nationalCheckDigits?: Positions,
];

/** The release of the SWIFT IBAN registry that the table has. */
export const registryRelease = '103 (September 2026)';

const sepa = 'SEPA';

/**
 * The SWIFT IBAN registry; `sepa` marks the SEPA scheme countries that the EPC lists. The branch
 * positions of AL, FR and PT are corrected: three independent tables agree on others than the registry. CZ and SK have
 * no branch in the registry; here it is the account prefix, as in two independent tables.
 */
export const registryRows: readonly RegistryRow[] = [
  ['AD2!n4!n4!n12!c', 'AD1200012030200359100100', sepa, [1, 4], [5, 8]],
  ['AE2!n3!n16!n', 'AE070331234567890123456', null, [1, 3]],
  ['AL2!n8!n16!c', 'AL47212110090000000235698741', sepa, [1, 3], [4, 7], [8, 8]],
  ['AT2!n5!n11!n', 'AT611904300234573201', sepa, [1, 5]],
  ['AZ2!n4!a20!c', 'AZ21NABZ00000000137010001944', null, [1, 4]],
  ['BA2!n3!n3!n8!n2!n', 'BA391290079401028494', null, [1, 3], [4, 6], [15, 16]],
  ['BE2!n3!n7!n2!n', 'BE68539007547034', sepa, [1, 3], null, [11, 12]],
  ['BG2!n4!a4!n2!n8!c', 'BG80BNBG96611020345678', sepa, [1, 4], [5, 8]],
  ['BH2!n4!a14!c', 'BH67BMAG00001299123456', null, [1, 4]],
  ['BI2!n5!n5!n11!n2!n', 'BI4210000100010000332045181', null, [1, 5], [6, 10], [22, 23]],
  ['BR2!n8!c5!n10!n1!a1!c', 'BR1800360305000010009795493C1', null, [1, 8], [9, 13]],
  ['BY2!n4!c4!n16!c', 'BY13NBRB3600900000002Z00AB00', null, [1, 4]],
  ['CH2!n5!n12!c', 'CH9300762011623852957', sepa, [1, 5]],
  ['CR2!n4!n14!n', 'CR05015202001026284066', null, [1, 4]],
  ['CY2!n3!n5!n16!c', 'CY17002001280000001200527600', sepa, [1, 3], [4, 8]],
  ['CZ2!n4!n6!n10!n', 'CZ6508000000192000145399', sepa, [1, 4], [5, 10]],
  ['DE2!n8!n10!n', 'DE89370400440532013000', sepa, [1, 8]],
  ['DJ2!n5!n5!n11!n2!n', 'DJ2100010000000154000100186', null, [1, 5], [6, 10], [22, 23]],
  ['DK2!n4!n9!n1!n', 'DK5000400440116243', sepa, [1, 4]],
  ['DO2!n4!c20!n', 'DO28BAGR00000001212453611324', null, [1, 4]],
  ['EE2!n2!n14!n', 'EE382200221020145685', sepa, [1, 2], null, [16, 16]],
  ['EG2!n4!n4!n17!n', 'EG380019000500000000263180002', null, [1, 4], [5, 8]],
  ['ES2!n4!n4!n1!n1!n10!n', 'ES9121000418450200051332', sepa, [1, 4], [5, 8], [9, 10]],
  ['FI2!n3!n11!n', 'FI2112345600000785', sepa, [1, 3], null, [14, 14]],
  ['FK2!n2!a12!n', 'FK88SC123456789012', null, [1, 2]],
  ['FO2!n4!n9!n1!n', 'FO6264600001631634', null, [1, 4], null, [14, 14]],
  ['FR2!n5!n5!n11!c2!n', 'FR1420041010050500013M02606', sepa, [1, 5], [6, 10], [22, 23]],
  ['GB2!n4!a6!n8!n', 'GB29NWBK60161331926819', sepa, [1, 4], [5, 10]],
  ['GE2!n2!a16!n', 'GE29NB0000000101904917', null, [1, 2]],
  ['GI2!n4!a15!c', 'GI75NWBK000000007099453', sepa, [1, 4]],
  ['GL2!n4!n9!n1!n', 'GL8964710001000206', null, [1, 4], null, [14, 14]],
  ['GR2!n3!n4!n16!c', 'GR1601101250000000012300695', sepa, [1, 3], [4, 7]],
  ['GT2!n4!c20!c', 'GT82TRAJ01020000001210029690', null, [1, 4]],
  ['HN2!n4!a20!n', 'HN88CABF00000000000250005469', null, [1, 4]],
  ['HR2!n7!n10!n', 'HR1210010051863000160', sepa, [1, 7]],
  ['HU2!n3!n4!n1!n15!n1!n', 'HU42117730161111101800000000', sepa, [1, 3], [4, 7], [24, 24]],
  ['IE2!n4!a6!n8!n', 'IE29AIBK93115212345678', sepa, [1, 4], [5, 10]],
  ['IL2!n3!n3!n13!n', 'IL620108000000099999999', null, [1, 3], [4, 6]],
  ['IQ2!n4!a3!n12!n', 'IQ98NBIQ850123456789012', null, [1, 4], [5, 7]],
  ['IS2!n4!n2!n6!n10!n', 'IS140159260076545510730339', sepa, [1, 2], [3, 4]],
  ['IT2!n1!a5!n5!n12!c', 'IT60X0542811101000000123456', sepa, [2, 6], [7, 11], [1, 1]],
  ['JO2!n4!a4!n18!c', 'JO94CBJO0010000000000131000302', null, [1, 4], [5, 8]],
  ['KW2!n4!a22!c', 'KW81CBKU0000000000001234560101', null, [1, 4]],
  ['KZ2!n3!n13!c', 'KZ86125KZT5004100100', null, [1, 3]],
  ['LB2!n4!n20!c', 'LB62099900000001001901229114', null, [1, 4]],
  ['LC2!n4!a24!c', 'LC55HEMM000100010012001200023015', null, [1, 4]],
  ['LI2!n5!n12!c', 'LI21088100002324013AA', sepa, [1, 5]],
  ['LT2!n5!n11!n', 'LT121000011101001000', sepa, [1, 5]],
  ['LU2!n3!n13!c', 'LU280019400644750000', sepa, [1, 3]],
  ['LV2!n4!a13!c', 'LV80BANK0000435195001', sepa, [1, 4]],
  ['LY2!n3!n3!n15!n', 'LY83002048000020100120361', null, [1, 3], [4, 6]],
  ['MC2!n5!n5!n11!c2!n', 'MC5811222000010123456789030', sepa, [1, 5], [6, 10], [22, 23]],
  ['MD2!n2!c18!c', 'MD24AG000225100013104168', sepa, [1, 2]],
  ['ME2!n3!n13!n2!n', 'ME25505000012345678951', sepa, [1, 3], null, [17, 18]],
  ['MK2!n3!n10!c2!n', 'MK07250120000058984', sepa, [1, 3], null, [14, 15]],
  ['MN2!n4!n12!n', 'MN121234123456789123', null, [1, 4]],
  ['MR2!n5!n5!n11!n2!n', 'MR1300020001010000123456753', null, [1, 5], [6, 10], [22, 23]],
  ['MT2!n4!a5!n18!c', 'MT84MALT011000012345MTLCAST001S', sepa, [1, 4], [5, 9]],
  ['MU2!n4!a2!n2!n12!n3!n3!a', 'MU17BOMM0101101030300200000MUR', null, [1, 6], [7, 8]],
  ['NI2!n4!a20!n', 'NI45BAPR00000013000003558124', null, [1, 4]],
  ['NL2!n4!a10!n', 'NL91ABNA0417164300', sepa, [1, 4]],
  ['NO2!n4!n6!n1!n', 'NO9386011117947', sepa, [1, 4], null, [11, 11]],
  ['OM2!n3!n16!c', 'OM810180000001299123456', null, [1, 3]],
  ['PK2!n4!a16!c', 'PK36SCBL0000001123456702', null, [1, 4]],
  ['PL2!n8!n16!n', 'PL61109010140000071219812874', sepa, [1, 8], null, [8, 8]],
  ['PS2!n4!a21!c', 'PS92PALS000000000400123456702', null, [1, 4]],
  ['PT2!n4!n4!n11!n2!n', 'PT50000201231234567890154', sepa, [1, 4], [5, 8], [20, 21]],
  ['QA2!n4!a21!c', 'QA58DOHB00001234567890ABCDEFG', null, [1, 4]],
  ['RO2!n4!a16!c', 'RO49AAAA1B31007593840000', sepa, [1, 4]],
  ['RS2!n3!n13!n2!n', 'RS35260005601001611379', sepa, [1, 3], null, [17, 18]],
  ['RU2!n9!n5!n15!c', 'RU0304452522540817810538091310419', null, [1, 9], [10, 14]],
  ['SA2!n2!n18!c', 'SA0380000000608010167519', null, [1, 2]],
  ['SC2!n4!a2!n2!n16!n3!a', 'SC18SSCB11010000000000001497USD', null, [1, 6], [7, 8]],
  ['SD2!n2!n12!n', 'SD2129010501234001', null, [1, 2]],
  ['SE2!n3!n16!n1!n', 'SE4550000000058398257466', sepa, [1, 3], null, [20, 20]],
  ['SI2!n5!n8!n2!n', 'SI56263300012039086', sepa, [1, 5], null, [14, 15]],
  ['SK2!n4!n6!n10!n', 'SK3112000000198742637541', sepa, [1, 4], [5, 10]],
  ['SM2!n1!a5!n5!n12!c', 'SM86U0322509800000000270100', sepa, [2, 6], [7, 11], [1, 1]],
  ['SO2!n4!n3!n12!n', 'SO211000001001000100141', null, [1, 4], [5, 7]],
  ['ST2!n4!n4!n11!n2!n', 'ST23000100010051845310146', null, [1, 4], [5, 8]],
  ['SV2!n4!a20!n', 'SV62CENR00000000000000700025', null, [1, 4]],
  ['TL2!n3!n14!n2!n', 'TL380080012345678910157', null, [1, 3], null, [18, 19]],
  ['TN2!n2!n3!n13!n2!n', 'TN5910006035183598478831', null, [1, 2], [3, 5], [19, 20]],
  ['TR2!n5!n1!n16!c', 'TR330006100519786457841326', null, [1, 5]],
  ['UA2!n6!n19!c', 'UA213223130000026007233566001', null, [1, 6]],
  ['VA2!n3!n15!n', 'VA59001123000012345678', sepa, [1, 3]],
  ['VG2!n4!a16!n', 'VG96VPVG0000012345678901', null, [1, 4]],
  ['XK2!n4!n10!n2!n', 'XK051212012345678906', null, [1, 2], [3, 4]],
  ['YE2!n4!a4!n18!c', 'YE15CBYE0001018861234567891234', null, [1, 4], [5, 8]],
];

/** Territories by country: their banks use its IBANs. Some lists have IBANs with their own codes, which are accepted too. */
export const territories: ReadonlyMap<string, readonly string[]> = new Map([
  ['FI', ['AX']],
  ['FR', ['GF', 'GP', 'MQ', 'RE', 'PF', 'TF', 'YT', 'NC', 'BL', 'MF', 'PM', 'WF']],
  ['GB', ['IM', 'JE', 'GG']],
]);

/** Territories outside SEPA whose parent is in SEPA: the French ones in the Pacific and the Southern Ocean. */
export const territoriesOutsideSepa: ReadonlySet<string> = new Set(['NC', 'PF', 'TF', 'WF']);

/**
 * No official list has them: lengths and characters are those in which several independent tables and the published examples
 * agree. The first two characters of a bank code in the West African monetary union are letters, or in older ones a letter and
 * a digit.
 */
export const unregisteredRows: readonly (readonly [countries: string, bban: string])[] = [
  ['AO CV MZ', '21!n'],
  ['GW', '2!c19!n'],
  ['DZ IR', '22!n'],
  ['CF CG CM GA GQ KM MG TD', '23!n'],
  ['MA', '24!n'],
  ['BF BJ CI ML NE SN TG', '2!c22!n'],
];
