import { Refusal } from './rules.ts';
import type { SchemaYear } from './schema-tables.ts';

/** A message that is checked. */
export interface MessageVersion {
  /** Such as pain.001.001.09. */
  name: string;
  isDirectDebit: boolean;
  /** The year of its schema. */
  year: SchemaYear;
  /** Messages since 2017 have other elements for BICs, dates and addresses than those of 2009. */
  edition: 2009 | 2019;
  /** The party that sends the message, and the one that gets or pays the money. */
  own: Party;
  other: Party;
  /** The element with the day of execution in a payment. */
  date: 'ReqdExctnDt' | 'ReqdColltnDt';
  /** Whose rules its namespace names; null for those of ISO. */
  community: 'sps' | null;
  /** The element in `Document`. */
  message: string;
  /** The element of a payment in the message. */
  payment: string;
  /** The element of a transaction in a payment. */
  transaction: string;
}

/** The debtor, or the creditor. */
export type Party = 'Dbtr' | 'Cdtr';

const creditTransfer = {
  isDirectDebit: false,
  own: 'Dbtr',
  other: 'Cdtr',
  date: 'ReqdExctnDt',
  message: 'CstmrCdtTrfInitn',
  payment: 'PmtInf',
  transaction: 'CdtTrfTxInf',
} as const;
const directDebit = {
  isDirectDebit: true,
  own: 'Cdtr',
  other: 'Dbtr',
  date: 'ReqdColltnDt',
  message: 'CstmrDrctDbtInitn',
  payment: 'PmtInf',
  transaction: 'DrctDbtTxInf',
} as const;

function listVersion(name: string, year: SchemaYear): MessageVersion {
  const definition = name.startsWith('pain.008') ? directDebit : creditTransfer;
  const edition = year === 2009 ? 2009 : 2019;
  return { name, year, edition, community: null, ...definition };
}

export const messageVersions: readonly MessageVersion[] = [
  listVersion('pain.001.001.03', 2009),
  listVersion('pain.001.001.08', 2017),
  listVersion('pain.001.001.09', 2019),
  listVersion('pain.001.001.10', 2021),
  listVersion('pain.001.001.11', 2022),
  listVersion('pain.001.001.12', 2023),
  listVersion('pain.001.001.13', 2025),
  listVersion('pain.008.001.02', 2009),
  listVersion('pain.008.001.08', 2019),
  listVersion('pain.008.001.09', 2021),
  listVersion('pain.008.001.10', 2022),
  listVersion('pain.008.001.11', 2023),
  listVersion('pain.008.001.12', 2025),
];

const namespacePrefix = 'urn:iso:std:iso:20022:tech:xsd:';

/** Namespaces of communities have the name of the message in them. */
const communityNamespaces = [
  { start: 'http://www.six-interbank-clearing.com/de/', community: 'Swiss' },
  { start: 'urn:sepade:xsd:', community: 'German' },
] as const;

/** A status report (pain.002), which is read and not checked. @throws Refusal if it is another message */
export function findReportVersion(namespace: string): MessageVersion {
  const name = namespace.slice(namespacePrefix.length);
  if (!namespace.startsWith(namespacePrefix) || !/^pain\.002\.001\.(?:03|1\d)$/.test(name)) {
    throw new Refusal('UNSUPPORTED_MESSAGE', 'The report must be pain.002.001.03, or pain.002.001.10 or later.');
  }
  const report = { message: 'CstmrPmtStsRpt', payment: 'OrgnlPmtInfAndSts', transaction: 'TxInfAndSts' };
  return { ...listVersion(name, 2019), ...report };
}

/** The version of the message in this namespace. @throws Refusal if it is not checked */
export function findVersion(namespace: string): MessageVersion {
  const supported = messageVersions.map((version) => version.name).join(', ');
  const community = communityNamespaces.find(({ start }) => namespace.startsWith(start));
  if (community === undefined && !namespace.startsWith(namespacePrefix)) {
    throw new Refusal(
      'WRONG_NAMESPACE',
      `The root element must be in the namespace ${namespacePrefix} of ${supported}.`,
    );
  }
  const name = namespace.slice((community?.start ?? namespacePrefix).length);
  const [base = ''] = /^[a-z]{4}(?:\.\d{2,3}){3}/.exec(name) ?? [];
  // The Swiss versions of 2009 are those of ISO with fewer elements.
  const isWhole = community === undefined ? name === base : /^\.ch\.\d\d\.xsd$/.test(name.slice(base.length));
  const version = isWhole ? messageVersions.find((each) => each.name === base) : undefined;
  if (version !== undefined) return community === undefined ? version : { ...version, community: 'sps' };
  const printed = base === '' ? 'of another type' : base;
  const of = community === undefined ? '' : ` of the ${community.community} community`;
  throw new Refusal('UNSUPPORTED_MESSAGE', `The message is ${printed}${of}. These are checked: ${supported}.`);
}

/** The namespace of ISO of the version of 2019, for one of 2009. */
export function renewNamespace(namespace: string): string {
  const [name = ''] = /pain\.00[18]\.001\.0[23]/.exec(namespace) ?? [];
  return namespacePrefix + name.replace(...renewedNames);
}

/** For `replace`: the names of the versions of 2009, also those of the Swiss community. */
export const renewedNames = [
  /pain\.00([18])\.001\.0[23](?:\.ch\.\d\d)?/g,
  (_: string, kind: string) => (kind === '1' ? 'pain.001.001.09' : 'pain.008.001.08'),
] as const;

interface VersionEnd {
  versions: readonly string[];
  /** Countries of the account that the payment is from or to. */
  countries: readonly string[];
  /** By which banks. */
  by: string;
  /** The first day without it, in ISO 8601. */
  date: string;
  source: string;
}

const versionEnds: readonly VersionEnd[] = [
  {
    versions: ['pain.001.001.03', 'pain.001.001.08', 'pain.008.001.02'],
    ...{ countries: ['DE'], by: 'German banks', date: '2026-11-14', source: 'DFÜ agreement' },
  },
  {
    versions: ['pain.001.001.03', 'pain.008.001.02'],
    ...{ countries: ['CH', 'LI'], by: 'Swiss banks', date: '2026-11-14', source: 'Swiss Payment Standards' },
  },
];

/** When the banks of a country cease to accept a version; null if no day is known. */
export function findVersionEnd(version: string, country: string): VersionEnd | null {
  return versionEnds.find((end) => end.versions.includes(version) && end.countries.includes(country)) ?? null;
}

const addressOf2019 = 'a structured address may have it since the version of 2019; leave it out';

/** Elements of the other edition, by name, with what would be right. */
export const foreignElements: Readonly<Record<2009 | 2019, ReadonlyMap<string, string>>> = {
  2009: new Map([
    ['BICFI', 'write BIC'],
    ['Dt', 'write the date in ReqdExctnDt itself'],
    ['AnyBIC', 'write BICOrBEI'],
    ['UETR', 'leave it out'],
    ['LEI', 'leave it out'],
    ...['BldgNm', 'Flr', 'PstBx', 'Room', 'TwnLctnNm', 'DstrctNm'].map((name) => [name, addressOf2019] as const),
  ]),
  2019: new Map([
    ['BIC', 'write BICFI'],
    ['BICOrBEI', 'write AnyBIC'],
  ]),
};
