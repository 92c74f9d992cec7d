import { SaxesParser, type SaxesTagNS } from 'saxes';
import { Refusal } from './rules.ts';

export interface XmlEvents {
  openTag(tag: SaxesTagNS): void;
  closeTag(): void;
  /** A text between two tags, or a part of it. */
  text(text: string): void;
}

export interface XmlReader {
  /** @throws Refusal */
  write(text: string): void;
  /** @throws Refusal if the document is not complete */
  end(): void;
  /** The line that is being read, from 1. */
  line(): number;
}

/** Far beyond what a payment message needs. */
export const xmlLimits = {
  depth: 32,
  attributes: 32,
  nameLength: 100,
  /** Of a tag, a comment or a text between two tags, in characters. */
  tokenLength: 65_536,
} as const;

/**
 * Reads XML in bounded memory, whatever its length. Document type declarations are refused, so there are no entities but those of
 * XML, and nothing is loaded.
 */
export function createXmlReader(events: XmlEvents): XmlReader {
  const parser = new SaxesParser({ xmlns: true });
  let root: string | null = null;
  let depth = 0;
  let attributes = 0;
  /** Characters since the last event, or more. */
  let tokenLength = 0;
  const beginToken = () => {
    tokenLength = 0;
  };

  parser.on('error', (error) => {
    const problem = printSyntaxError(error);
    if (root === null) throw new Refusal('NOT_XML', `The file is not XML: ${problem}.`);
    throw new Refusal('NOT_WELL_FORMED', `The XML has a syntax error: ${problem}.`);
  });
  parser.on('doctype', () => {
    const message = 'The file has a document type declaration. Remove it: payment messages have none.';
    throw new Refusal('DOCTYPE_REFUSED', message);
  });
  parser.on('opentagstart', ({ name }) => {
    if (name.length > xmlLimits.nameLength) throw tooLarge('A tag', xmlLimits.nameLength, 'characters');
    attributes = 0;
    beginToken();
  });
  parser.on('attribute', () => {
    attributes += 1;
    if (attributes > xmlLimits.attributes) throw tooLarge('An element', xmlLimits.attributes, 'attributes');
    beginToken();
  });
  parser.on('opentag', (tag) => {
    root ??= tag.name;
    depth += 1;
    if (depth > xmlLimits.depth) throw tooLarge('The document', xmlLimits.depth, 'levels of elements');
    beginToken();
    events.openTag(tag);
  });
  parser.on('closetag', () => {
    depth -= 1;
    beginToken();
    events.closeTag();
  });
  for (const event of ['text', 'cdata'] as const) {
    parser.on(event, (text) => {
      beginToken();
      events.text(text);
    });
  }
  parser.on('comment', beginToken);
  parser.on('processinginstruction', beginToken);

  return {
    write(text) {
      parser.write(text);
      tokenLength += text.length;
      if (tokenLength > xmlLimits.tokenLength) {
        throw tooLarge('A tag, a comment or a text', xmlLimits.tokenLength, 'characters');
      }
    },
    end() {
      if (depth > 0) throw new Refusal('TRUNCATED', `The file ends before </${root}>. Send the complete file.`);
      parser.close();
    },
    line: () => parser.line,
  };
}

export function tooLarge(what: string, limit: number, unit: string): Refusal {
  return new Refusal('LIMIT_EXCEEDED', `${what} has more than ${limit} ${unit}, which no payment message needs.`);
}

/** Without the place, which a finding has anyway, and without text of the file, which follows a colon. */
function printSyntaxError({ message }: Error): string {
  return message.replace(/^\d+:\d+: /, '').replace(/(?::|\.).*$/s, '');
}
