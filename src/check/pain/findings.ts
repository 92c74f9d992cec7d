import type { InTimeSlice } from '../../base/async/time-slices.ts';
import type { Answer } from '../answers/answer-source.ts';
import type { Finding, Place } from '../finding.ts';
import { type XmlElement, xpathOf } from './elements.ts';
import { type RuleCode, rules } from './rules.ts';

/** What was found at an element. The message never contains a whole IBAN, unlike the suggestion. */
interface Problem {
  code: RuleCode;
  message: string;
  suggestion?: string | null;
}

/** The findings of a message, in the order of its elements: one that needs the answer about an IBAN holds up those that follow. */
export class MessageFindings {
  /** Those of the part that is being read. */
  #part: Entry[] = [];
  readonly #queue: Entry[] = [];
  readonly #hurry: (iban: string) => void;
  readonly #inTimeSlice: InTimeSlice;

  /** @param hurry called with the IBAN whose answer is waited for */
  constructor(hurry: (iban: string) => void, inTimeSlice: InTimeSlice) {
    this.#hurry = hurry;
    this.#inTimeSlice = inTimeSlice;
  }

  /** @param suggestion a function if it takes longer than others */
  add(
    code: RuleCode,
    element: XmlElement,
    message: string,
    suggestion: string | null | (() => string | null) = null,
  ): void {
    const place = placeOf(element);
    const create = (text: string | null) => createFinding({ code, message, suggestion: text }, place);
    const finding = typeof suggestion === 'function' ? () => create(suggestion()) : create(suggestion);
    this.#part.push({ order: element.order, finding, pending: null });
  }

  /** @param path of the missing element, such as Id/IBAN */
  addMissing(parent: XmlElement, path: string): void {
    const { line, xpath } = placeOf(parent);
    const message = `${path} is missing in ${parent.name}. It is mandatory.`;
    const finding = createFinding({ code: 'MISSING_ELEMENT', message }, { line, xpath: `${xpath}/${path}` });
    this.#part.push({ order: parent.order, finding, pending: null });
  }

  /** A problem that depends on the answer about an IBAN. */
  addAnswered(
    element: XmlElement,
    { iban, answer }: { iban: string; answer: Answer | Promise<Answer> },
    judge: (answer: Answer) => Problem | null,
  ): void {
    const entry: Entry = { order: element.order, finding: null, pending: null };
    const take = (found: Answer) => {
      const problem = judge(found);
      entry.finding = problem && createFinding(problem, placeOf(element));
      entry.pending = null;
    };
    if (answer instanceof Promise) {
      const settled = answer.then(take);
      // A failure is thrown where it is waited for.
      settled.catch(() => {});
      entry.pending = { iban, settled };
    } else take(answer);
    if (entry.finding !== null || entry.pending !== null) this.#part.push(entry);
  }

  /** The findings of the part are complete. */
  endPart(): void {
    this.#queue.push(...this.#part.sort((one, other) => one.order - other.order));
    this.#part = [];
  }

  /** A finding about the file, after all others. */
  addLast(code: RuleCode, place: Place, message: string): void {
    this.#queue.push({ order: 0, finding: createFinding({ code, message }, place), pending: null });
  }

  /** How many are not taken yet. */
  waiting(): number {
    return this.#queue.length;
  }

  /** Those that are known, in their order, and others while they must be waited for. */
  async *take(mustWait: () => boolean): AsyncGenerator<Finding> {
    const queue = this.#queue;
    for (let [entry] = queue; entry !== undefined && (entry.pending === null || mustWait()); [entry] = queue) {
      if (entry.pending !== null) this.#hurry(entry.pending.iban);
      await entry.pending?.settled;
      queue.shift();
      const { finding } = entry;
      if (finding !== null) yield typeof finding === 'function' ? await this.#inTimeSlice(finding) : finding;
    }
  }
}

interface Entry {
  /** That of its element. */
  order: number;
  /** A function completes it, within a millisecond. Null while it is not known, and if there is none. */
  finding: Finding | (() => Finding) | null;
  /** Until the answer is known. */
  pending: { iban: string; settled: Promise<void> } | null;
}

function createFinding({ code, message, suggestion = null }: Problem, place: Place): Finding {
  return { code, severity: rules[code].severity, place, message, suggestion };
}

function placeOf(element: XmlElement): { line: number; xpath: string } {
  return { line: element.line, xpath: xpathOf(element) };
}
