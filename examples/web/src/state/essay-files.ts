import { readEssayText } from './essay-text.ts';

export function toMarkdown(text: string): string {
  const { title, paragraphs } = readEssayText(text);
  const parts = [...(title === null ? [] : [`# ${title}`]), ...paragraphs.map((paragraph) => paragraph.text)];
  return `${parts.join('\n\n')}\n`;
}

/** A document for Word and other word processors. The library is loaded only here. */
export async function toDocx(text: string): Promise<Blob> {
  const { Document, HeadingLevel, Packer, Paragraph } = await import('docx');
  const { title, paragraphs } = readEssayText(text);
  const heading = title === null ? [] : [new Paragraph({ text: title, heading: HeadingLevel.TITLE })];
  const children = [...heading, ...paragraphs.map(({ text }) => new Paragraph({ text, spacing: { after: 200 } }))];
  return Packer.toBlob(new Document({ title: title ?? '', creator: 'Ledgerquill', sections: [{ children }] }));
}

/** Without a suffix, and with letters and digits of any script. */
export function toFileName(title: string): string {
  const words = title.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? ['essay'];
  return words.join('-').slice(0, 60);
}
