import { isIsoDate } from '../../../base/calendar-period.ts';
import { chain, type InputFile, take } from '../../../base/input-file.ts';
import { fullBic } from '../../../iban/bic.ts';
import { type Participation, type PaymentScheme, paymentSchemes } from '../../scheme-registers.ts';
import {
  type Faults,
  ImportError,
  type OnProgress,
  openBankFile,
  type Row,
  readEachRow,
  rejectFaults,
} from './bank-file.ts';
import { cellText, maxQuoteLength, readBic } from './bank-file-format.ts';
import { readTextRows } from './text-rows.ts';

/** What can be said about every register that the European Payments Council (EPC) publishes. */
export const epcRegisters = {
  title: 'a register of participants in a SEPA scheme (EPC)',
  source: 'European Payments Council',
  download:
    'https://www.europeanpaymentscouncil.eu/what-we-do/be-involved/register-participants/registers-participants-sepa-payment-schemes',
  attribution:
    'Source: European Payments Council, registers of participants (credit it when you pass the data on; do not sell them as they are).',
};

export interface RegisterFileContent {
  scheme: PaymentScheme;
  /** By BIC of 11 characters. */
  participants: ReadonlyMap<string, readonly Participation[]>;
  /** Number of rows, without blank ones and the header. */
  rows: number;
  /** Rows that were skipped, as they have no BIC. */
  withoutBic: number;
  faults: Faults;
}

interface ReadOptions {
  path: string;
  /** Absent: by the name of the file. */
  scheme?: PaymentScheme | undefined;
  onProgress?: OnProgress;
}

/** Reads a register of the EPC, row by row. @throws ImportError */
export async function readRegisterFile({ path, scheme: given, onProgress }: ReadOptions): Promise<RegisterFileContent> {
  const file = await openBankFile(path);
  try {
    const scheme = given ?? findScheme(file.name);
    if (scheme === null) throw new ImportError(`${file.name} ${unknownScheme}`);
    return { scheme, ...(await readParticipants(file, onProgress)) };
  } finally {
    file.close();
  }
}

/** Why a register is not imported without the option. */
const unknownScheme =
  'does not say of which scheme it is, and does not have a name that does, such as sct_inst.csv; ' +
  `import it with --scheme and one of ${paymentSchemes.join(', ')}`;

/**
 * The scheme that the name of a downloaded file means, also of a copy or with a date, such as `SCT_INST (1).csv`; null if it means
 * none.
 */
function findScheme(fileName: string): PaymentScheme | null {
  const words =
    fileName
      .toLowerCase()
      .replace(/\.(csv|txt)$/, '')
      .match(/[a-z0-9]+/g) ?? [];
  while (/^\d+$/.test(words.at(-1) ?? '')) words.pop();
  return schemesByName.get(words.join('_')) ?? null;
}

/** The present names, which are those of the schemes, and older ones. */
const schemesByName: ReadonlyMap<string, PaymentScheme> = new Map([
  ...paymentSchemes.map((scheme) => [scheme.toLowerCase(), scheme] as const),
  ['sepa_credit_transfer', 'SCT'],
  ['sepa_instant_credit_transfer', 'SCT_INST'],
]);

const layout = { kind: 'csv', encoding: 'utf-8', separator: ',', isQuoted: true } as const;
const titles = ['ParticipantName', 'BIC', 'Readiness Date', 'Scheme Leaving Date'] as const;

async function readParticipants(
  file: InputFile,
  onProgress?: OnProgress,
): Promise<Omit<RegisterFileContent, 'scheme'>> {
  const participants = new Map<string, Participation[]>();
  const lines = readTextRows(file, layout)[Symbol.asyncIterator]();
  const [first] = await take(lines, (taken) => taken < 1);
  const header = readHeader(file, first?.cells ?? []);
  let withoutBic = 0;
  const { rows, faults } = await readEachRow(file, { place: 'line', rows: chain([], lines) }, onProgress, (row) => {
    const content = readRow(row, header);
    if ('problem' in content) return { problem: content.problem, isLeftOut: true };
    const { bic, participation } = content;
    const others = participants.get(bic);
    if (bic === '') withoutBic += 1;
    else if (others === undefined) participants.set(bic, [participation]);
    else others.push(participation);
    return null;
  });
  rejectFaults(file.name, rows, faults);
  if (participants.size === 0)
    throw new ImportError(`${file.name} contains no participant; expected ${epcRegisters.title}`);
  for (const participations of participants.values())
    participations.sort(([a], [b]) => ((a ?? '') < (b ?? '') ? -1 : 1));
  return { participants, rows, withoutBic, faults };
}

/** @throws ImportError */
function readHeader({ name }: InputFile, cells: Row['cells']): Row['cells'] {
  const missing = findMissingTitles(cells);
  if (missing.length === 0) return cells;
  throw new ImportError(
    `${name} is not ${epcRegisters.title}: its first line lacks the columns ${missing.join(', ')}; import the downloaded file unchanged`,
  );
}

function findMissingTitles(cells: Row['cells']): string[] {
  return titles.filter((title) => findTitle(cells, title) < 0);
}

function findTitle(cells: Row['cells'], title: string): number {
  const [wanted, ...headers] = [title, ...cells].map((cell) => cellText(cell).toLowerCase().replaceAll(' ', ''));
  return headers.indexOf(wanted ?? '');
}

/** The BIC is empty in a row without one. */
function readRow(
  { cells }: Row,
  header: Row['cells'],
): { bic: string; participation: Participation } | { problem: string } {
  if (cells.length !== header.length) {
    return { problem: `${cells.length} columns; a row of this file has ${header.length}` };
  }
  const [, listedBic = '', since, until] = titles.map((title) => cellText(cells[findTitle(header, title)] ?? ''));
  const bic = readBic(listedBic);
  if (bic === null) {
    return {
      problem: `the BIC is "${listedBic.slice(0, maxQuoteLength)}"; it must have 8 or 11 letters and digits, with a country code at positions 5 and 6`,
    };
  }
  const wrongDate = [since, until].find((date) => date && !isIsoDate(date));
  if (wrongDate)
    return {
      problem: `a date is "${wrongDate.slice(0, maxQuoteLength)}"; it must be one such as 2026-11-21, or empty`,
    };
  return { bic: fullBic(bic), participation: [since || null, until || null] };
}
