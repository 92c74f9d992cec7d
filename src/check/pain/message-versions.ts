import { Refusal } from './rules.ts';

/** A message that is checked. */
export interface MessageVersion {
  /** Such as pain.001.001.09. */
  name: string;
  isDirectDebit: boolean;
  /** Messages of 2019 have other elements for BICs, dates and addresses than those of 2009. */
  edition: 2009 | 2019;
  /** The element in `Document`. */
  message: string;
  /** The element of a transaction in a payment. */
  transaction: string;
}

const creditTransfer = { isDirectDebit: false, message: 'CstmrCdtTrfInitn', transaction: 'CdtTrfTxInf' } as const;
const directDebit = { isDirectDebit: true, message: 'CstmrDrctDbtInitn', transaction: 'DrctDbtTxInf' } as const;

const messageVersions: readonly MessageVersion[] = [
  { name: 'pain.001.001.03', edition: 2009, ...creditTransfer },
  { name: 'pain.001.001.09', edition: 2019, ...creditTransfer },
  { name: 'pain.008.001.02', edition: 2009, ...directDebit },
  { name: 'pain.008.001.08', edition: 2019, ...directDebit },
];

const namespacePrefix = 'urn:iso:std:iso:20022:tech:xsd:';

/** The version of the message in this namespace. @throws Refusal if it is not checked */
export function findVersion(namespace: string): MessageVersion {
  const name = namespace.slice(namespacePrefix.length);
  const supported = messageVersions.map((version) => version.name).join(', ');
  if (!namespace.startsWith(namespacePrefix)) {
    throw new Refusal(
      'WRONG_NAMESPACE',
      `The root element must be in the namespace ${namespacePrefix} of ${supported}.`,
    );
  }
  const version = messageVersions.find((each) => each.name === name);
  if (version !== undefined) return version;
  const printed = /^[a-z]{4}(?:\.\d{2,3}){3}$/.test(name) ? name : 'of another type';
  throw new Refusal('UNSUPPORTED_MESSAGE', `The message is ${printed}. These are checked: ${supported}.`);
}

const addressOf2019 = 'a structured address may have it since the version of 2019; leave it out';

/** Elements of the other edition, by name, with what would be right. */
export const foreignElements: Readonly<Record<2009 | 2019, ReadonlyMap<string, string>>> = {
  2009: new Map([
    ['BICFI', 'write BIC'],
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
