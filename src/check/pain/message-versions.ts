import { Refusal } from '../finding.ts';
import { readCells, readList } from './code-lists.ts';
import type { SchemaYear } from './schema.ts';

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

type Definition = Omit<MessageVersion, 'name' | 'year' | 'edition' | 'community'>;

const creditTransfer: Definition = {
  ...{ isDirectDebit: false, own: 'Dbtr', other: 'Cdtr', date: 'ReqdExctnDt' },
  ...{ message: 'CstmrCdtTrfInitn', payment: 'PmtInf', transaction: 'CdtTrfTxInf' },
};
const directDebit: Definition = {
  ...{ isDirectDebit: true, own: 'Cdtr', other: 'Dbtr', date: 'ReqdColltnDt' },
  ...{ message: 'CstmrDrctDbtInitn', payment: 'PmtInf', transaction: 'DrctDbtTxInf' },
};

function listVersion(name: string, year: SchemaYear): MessageVersion {
  const definition = name.startsWith('pain.008') ? directDebit : creditTransfer;
  const edition = year === 2009 ? 2009 : 2019;
  return { name, year, edition, community: null, ...definition };
}

const messageVersions = [...readList('version')].map(([name, year]) => listVersion(name, Number(year) as SchemaYear));

export const namespacePrefix = 'urn:iso:std:iso:20022:tech:xsd:';

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
  const meant = community === undefined ? findNamed(namespace) : undefined;
  if (meant !== undefined || (community === undefined && !namespace.startsWith(namespacePrefix))) {
    const right = meant?.name ?? ` of ${supported}`;
    throw new Refusal('WRONG_NAMESPACE', `The root element must be in the namespace ${namespacePrefix}${right}.`);
  }
  const name = namespace.slice((community?.start ?? namespacePrefix).length);
  const [base = ''] = /^[a-z]{4}(?:\.\d{2,3}){3}/.exec(name) ?? [];
  // The Swiss versions of 2009 are those of ISO with fewer elements.
  const isWhole = community === undefined ? name === base : /^\.ch\.\d\d\.xsd$/.test(name.slice(base.length));
  const version = isWhole ? messageVersions.find((each) => each.name === base) : undefined;
  if (version !== undefined) return community === undefined ? version : { ...version, community: 'sps' };
  if (base.startsWith('pain.002')) {
    const advice = 'Check the message that it is about: ledgerquill check <message> --report <this file>';
    throw new Refusal('UNSUPPORTED_MESSAGE', `The file is ${base}, the status report of a bank. ${advice}.`);
  }
  const printed = base === '' ? 'of another type' : base;
  const of = community === undefined ? '' : ` of the ${community.community} community`;
  throw new Refusal('UNSUPPORTED_MESSAGE', `The message is ${printed}${of}. These are checked: ${supported}.`);
}

/** The version that is named in a wrong namespace, such as one with another prefix; undefined: none, or the namespace is right. */
function findNamed(namespace: string): MessageVersion | undefined {
  const [name = ''] = /pain(?:\.\d{3}){2}\.\d{2}(?!\d)/i.exec(namespace) ?? [];
  const named = messageVersions.find((version) => version.name === name.toLowerCase());
  return namespace === `${namespacePrefix}${named?.name}` ? undefined : named;
}

/** A text in which the versions before 2019, also those of the Swiss community, are named as those of 2019. */
export function renewVersions(text: string): string {
  const credit = text.replaceAll(/pain\.001\.001\.0[38](?:\.ch\.\d\d)?/g, 'pain.001.001.09');
  return credit.replaceAll(/pain\.008\.001\.02(?:\.ch\.\d\d)?/g, 'pain.008.001.08');
}

/** When the banks of a country cease to accept a version: the first day without it, in ISO 8601; null if none is known. */
export function findVersionEnd(version: string, country: string): { by: string; date: string; source: string } | null {
  for (const [countries = '', versions = '', by = '', date = '', source = ''] of readCells('end of version')) {
    if (countries.split(' ').includes(country) && versions.split(' ').includes(version)) return { by, date, source };
  }
  return null;
}

/** Elements of the other edition, by name, with what would be right. */
export const foreignElements: Readonly<Record<2009 | 2019, ReadonlyMap<string, string>>> = {
  2009: readList('not in 2009'),
  2019: readList('not in 2019'),
};
