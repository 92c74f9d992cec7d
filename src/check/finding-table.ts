import type { AboutPayment, Finding } from './finding.ts';
import type { Change } from './pain/copy-message.ts';

/*
 * Findings of a payment message on a terminal, for people who pay and do not read XML: which payment, what is wrong, and what would be
 * right. A finding has one line for its payment, and one for each sentence.
 */

/** Those of one payment follow one another. */
export function createFindingTable(fileName: string) {
  let last = '';
  let isBegun = false;
  const titles = () => (isBegun ? '' : `${fileName}\n${row(['LINE', 'PAYEE', 'AMOUNT', 'END-TO-END ID'])}`);
  return {
    write({ severity, code, place, message, suggestion, about }: Finding): string {
      const line = 'line' in place ? place.line : place.row;
      const payment = describe(about ?? null);
      const heading = payment.join(' ') === last ? '' : row(['', ...payment]);
      const start = titles();
      [last, isBegun] = [payment.join(' '), true];
      const right = suggestion === null ? '' : `${indent}Right would be: ${suggestion}\n`;
      return `${start}${heading}${row([String(line), `${severity}: ${toWords(message)}`])}${right}${indent}(${code})\n`;
    },
    writeChange({ line, before, after }: Change): string {
      return row([String(line), `changed: ${before} -> ${after}`]);
    },
  };
}

/** Sentences begin with the name of an element, if they are about one. */
function toWords(message: string): string {
  return message.replace(/^\w+(?= (?:has|is|must|of) )/, (name) =>
    words[name] ? `The ${words[name]} (${name})` : name,
  );
}

const words: Readonly<Record<string, string>> = {
  ...{ Nm: 'name', Ustrd: 'text for the payee', StrtNm: 'street', TwnNm: 'town', AdrLine: 'line of the address' },
  ...{ EndToEndId: 'end-to-end identification', PmtInfId: 'identification of the batch', ChrgBr: 'sharing of charges' },
  ...{ MsgId: 'identification of the message', NbOfTxs: 'number of payments', CtrlSum: 'sum of all amounts' },
};

const widths = [7, 36, 22, 0];
const indent = ' '.repeat(widths[0] ?? 0);

/** The last column, and the only one of a sentence, is as long as it is. */
function row(cells: readonly string[]): string {
  const padded = cells.map((cell, index) =>
    index === cells.length - 1 ? cell : shorten(cell, (widths[index] ?? 0) - 1).padEnd(widths[index] ?? 0),
  );
  return `${padded.join('').trimEnd()}\n`;
}

function shorten(text: string, length: number): string {
  const line = text.replaceAll(/\s+/g, ' ');
  return line.length <= length ? line : `${line.slice(0, length - 1)}…`;
}

function describe(about: AboutPayment | null): string[] {
  if (about === null) return ['the whole file'];
  if (about.payee === null) return [`all payments of the batch ${about.id}`];
  return [about.payee, about.amount, about.id].map((text) => text || '-');
}
