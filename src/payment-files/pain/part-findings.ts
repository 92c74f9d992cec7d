import type { Finding } from '../finding.ts';
import { type XmlElement, xpathOf } from './elements.ts';
import type { IbanAnswer } from './look-ups.ts';
import { createFinding, type RuleCode } from './rules.ts';

/** A finding; one whose suggestion takes longer than others; or one that depends on a look-up, and may be none. */
export type Found =
  | Finding
  | { complete: () => Finding }
  | { iban: string; answer: Promise<IbanAnswer>; find: (answer: IbanAnswer) => Finding | null };

/** The findings of one part of a message, which are reported in the order of its elements. */
export interface PartFindings {
  add(code: RuleCode, element: XmlElement, message: string, suggestion?: string | null): void;
  /** @param path of the missing element, such as Id/IBAN */
  addMissing(parent: XmlElement, path: string): void;
  /** With a suggestion that takes longer than others. */
  addSuggesting(code: RuleCode, element: XmlElement, message: string, suggest: () => string | null): void;
  /** A finding that depends on the look-up of a well-formed IBAN; nothing if the answer is null. */
  addAnswered(
    element: XmlElement,
    lookUp: { iban: string; answer: IbanAnswer | Promise<IbanAnswer> | null },
    find: (answer: IbanAnswer) => Finding | null,
  ): void;
  /** Reports all, once. */
  report(): void;
}

export function createPartFindings(report: (found: Found) => void): PartFindings {
  let items: { order: number; found: Found }[] = [];
  const push = ({ order }: XmlElement, found: Found) => items.push({ order, found });
  return {
    add(code, element, message, suggestion = null) {
      push(element, createFinding(code, placeOf(element), message, suggestion));
    },
    addMissing(parent, path) {
      const { line, xpath } = placeOf(parent);
      const message = `${path} is missing in ${parent.name}. It is mandatory.`;
      push(parent, createFinding('MISSING_ELEMENT', { line, xpath: `${xpath}/${path}` }, message));
    },
    addSuggesting(code, element, message, suggest) {
      const place = placeOf(element);
      push(element, { complete: () => createFinding(code, place, message, suggest()) });
    },
    addAnswered(element, { iban, answer }, find) {
      if (answer instanceof Promise) {
        push(element, { iban, answer, find });
        return;
      }
      const finding = answer === null ? null : find(answer);
      if (finding !== null) push(element, finding);
    },
    report() {
      items.sort((one, other) => one.order - other.order);
      for (const { found } of items) report(found);
      items = [];
    },
  };
}

export function placeOf(element: XmlElement): { line: number; xpath: string } {
  return { line: element.line, xpath: xpathOf(element) };
}
