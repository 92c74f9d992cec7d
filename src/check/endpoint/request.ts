import type { IncomingHttpHeaders } from 'node:http';
import Negotiator from 'negotiator';
import type { ErrorCode } from '../../base/errors.ts';
import { type TextEncoding, textEncodings } from '../encodings.ts';
import type { ColumnNames } from '../find-columns.ts';
import { type Profile, profiles } from '../pain/profiles.ts';

/** Why a request is not answered, as an HTTP error. */
export interface Refusal {
  status: number;
  code: ErrorCode;
  message: string;
  headers?: readonly string[];
}

/** What a request asks for, besides its body. */
export interface CheckRequest {
  format: 'json' | 'csv';
  columnNames: ColumnNames;
  /** Null: recognized. */
  encoding: TextEncoding | null;
  /** By whose rules a payment message is judged. */
  profile: Profile;
}

export function refuse(status: number, message: string): Refusal {
  return { status, code: 'BAD_USER_INPUT', message };
}

export function forbid(message: string): Refusal {
  return { status: 403, code: 'FORBIDDEN', message };
}

export function tooLarge(maxBytes: number): Refusal {
  const message = `The request body must have at most ${maxBytes} bytes.`;
  return { ...refuse(413, message), headers: ['connection', 'close'] };
}

export const ndjson = 'application/x-ndjson';
export const csv = 'text/csv';

/** Pages of other origins can send none of these types without a preflight. */
export const bodyTypes = [csv, 'text/tab-separated-values', 'application/xml', 'text/xml', 'application/octet-stream'];

// cspell:disable-next-line
const workbook = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';
/** A workbook is unpacked in memory, many times as large as what was sent. */
export const workbookAdvice =
  'XLSX workbooks are not read here. Save the sheet as CSV, or check it with the command: ledgerquill check payees.xlsx --gateway <URL of this gateway>.';

/** @param search of the URL, without `?` */
export function readCheckRequest(headers: IncomingHttpHeaders, search: string): CheckRequest | Refusal {
  const { accept = ndjson, 'content-type': type = '', 'content-encoding': compression = 'identity' } = headers;
  const mediaType = new Negotiator({ headers: { accept } }).mediaType([ndjson, csv]);
  if (mediaType === undefined) return refuse(406, `The Accept header must allow ${ndjson} or ${csv}.`);
  const bodyType = type.replace(/;.*/s, '').trim().toLowerCase();
  if (bodyType === workbook) return refuse(415, workbookAdvice);
  if (!bodyTypes.includes(bodyType)) {
    return refuse(415, `The Content-Type header must be one of ${bodyTypes.join(', ')}.`);
  }
  if (compression.toLowerCase() !== 'identity') return refuse(415, 'The request body must not be compressed.');
  const params = new URLSearchParams(search);
  const known = [...columnParams, 'encoding', 'profile'];
  const given = [...params.keys()];
  if (given.some((name, index) => !known.includes(name) || given.indexOf(name) < index))
    return refuse(400, `The parameters of the URL can be ${known.join(', ')}, each once.`);
  const named = params.get('encoding');
  const encoding = textEncodings.find((each) => each === named?.toLowerCase()) ?? null;
  if (named !== null && encoding === null)
    return refuse(400, `The encoding must be one of ${textEncodings.join(', ')}.`);
  const rules = params.get('profile') ?? 'auto';
  const profile = profiles.find((each) => each === rules);
  if (profile === undefined) return refuse(400, `The profile must be one of ${profiles.join(', ')}.`);
  const [iban = null, bic = null, name = null] = columnParams.map((name) => params.get(name));
  return { format: mediaType === csv ? 'csv' : 'json', columnNames: { iban, bic, name }, encoding, profile };
}

const columnParams = ['column', 'bicColumn', 'nameColumn'];
