import { groupBy } from '../../base/group-by.ts';
import type { Answer } from '../answers/answer-source.ts';
import type { Answers } from '../answers/answers.ts';
import type { AboutPayment, Finding, Place } from '../finding.ts';
import { find, textOf, type XmlElement, xpathOf } from './elements.ts';
import { findAmount } from './profiles.ts';
import { holds, type RuleCode, rules, type Scheme } from './rules.ts';

/** What was found at an element. The message never contains a whole IBAN, unlike the suggestion. */
interface Problem {
  code: RuleCode;
  message: string;
  suggestion?: string | null;
}

type Suggestion = string | null | (() => string | null);
type FoundOptions = Partial<Pick<Found, 'path' | 'isGeneric'>> & { suggestion?: Suggestion };

/** What a rule finds at an element, for those who repair it. */
export interface FoundProblem {
  code: RuleCode;
  element: XmlElement;
  suggestion(): string | null;
}

/** The findings of a message, in the order of its elements: one that needs the answer about an IBAN holds up those that follow. */
export class MessageFindings {
  /** The rules for the part that is checked: those of other schemes find nothing. */
  scheme: Scheme = 'iso';
  /** ISO 8601: the day on which the part is executed. Rules that hold from a later day find nothing. */
  day = '';
  readonly #summaries = new Map<string, Summary>();
  /** Those of the part that is being read. Their places are known when all of its elements are. */
  #part: Found[] = [];
  /** Those before `#taken` were taken. */
  readonly #queue: Entry[] = [];
  #taken = 0;
  readonly #answers: Pick<Answers, 'find'>;
  readonly #onProblem: (problem: FoundProblem) => void;

  constructor(answers: Pick<Answers, 'find'>, onProblem = (_: FoundProblem): void => {}) {
    this.#answers = answers;
    this.#onProblem = onProblem;
  }

  /** Whether the part is of a SEPA payment, by the rules of all banks or of German ones. */
  get isSepa(): boolean {
    return this.scheme === 'sepa' || this.scheme === 'dk';
  }

  /** @param suggestion a function if it takes longer than others */
  add(code: RuleCode, element: XmlElement, message: string, suggestion: Suggestion = null): void {
    this.#add(element, code, message, { suggestion });
  }

  /** What the schema refuses: is not reported if a rule finds the reason of it at the same element. */
  addGeneric(code: RuleCode, element: XmlElement, message: string): void {
    this.#add(element, code, message, { isGeneric: true });
  }

  /** @param path of the missing element, such as Id/IBAN */
  addMissing(parent: XmlElement, path: string): void {
    this.#add(parent, 'MISSING_ELEMENT', `${path} is missing in ${parent.name}. It is mandatory.`, { path });
  }

  /** What the schema requires: one of these elements. */
  addMissingBySchema(parent: XmlElement, [path = '', ...others]: readonly string[]): void {
    const message =
      others.length === 0
        ? `${path} is missing in ${parent.name}. It is mandatory.`
        : `${parent.name} must have one of ${[path, ...others].join(', ')}.`;
    this.#add(parent, 'MISSING_ELEMENT', message, { path, isGeneric: true });
  }

  #add(
    element: XmlElement,
    code: RuleCode,
    message: string,
    { suggestion = null, path = null, isGeneric = false }: FoundOptions,
  ): void {
    if (!holds(code, this.scheme, this.day)) return;
    const suggest = () => (typeof suggestion === 'function' ? suggestion() : suggestion);
    this.#onProblem({ code, element, suggestion: suggest });
    const complete = (): Entry => {
      const { line, xpath } = placeOf(element);
      const place = { line, xpath: path === null ? xpath : `${xpath}/${path}` };
      const about = paymentOf(element);
      const create = () => createFinding({ code, message, suggestion: suggest() }, place, about);
      return { finding: typeof suggestion === 'function' ? create : create(), pending: null };
    };
    this.#part.push({ order: element.order, code, path, isGeneric, complete });
  }

  /**
   * One finding for all elements that break a rule, at the first of them.
   * @param describe its message, by their number
   * @param about what the message is about, if there can be several
   */
  addSummary(code: RuleCode, element: XmlElement, describe: (count: number) => string, about = ''): void {
    if (!holds(code, this.scheme, this.day)) return;
    const key = `${code} ${about}`;
    const found = this.#summaries.get(key);
    if (found === undefined) this.#summaries.set(key, { code, place: placeOf(element), count: 1, describe });
    else found.count += 1;
  }

  /** After the last part. */
  endMessage(): void {
    for (const { code, place, count, describe } of this.#summaries.values()) this.addLast(code, place, describe(count));
    this.#summaries.clear();
  }

  /** A problem that depends on the answer about a valid IBAN. */
  addAnswered(element: XmlElement, iban: string, judge: (answer: Answer) => Problem | null): void {
    const answer = this.#answers.find(iban);
    const entry: Entry = { finding: null, pending: null };
    const take = (found: Answer) => {
      const problem = judge(found);
      entry.finding = problem && createFinding(problem, placeOf(element), paymentOf(element));
      entry.pending = null;
    };
    if (answer instanceof Promise) {
      const settled = answer.then(take);
      // A failure is thrown where it is waited for.
      settled.catch(() => {});
      entry.pending = settled;
    } else take(answer);
    if (entry.finding === null && entry.pending === null) return;
    this.#part.push({ order: element.order, code: null, path: null, isGeneric: false, complete: () => entry });
  }

  /** The findings of the part are complete. */
  endPart(): void {
    const part = this.#part.sort((one, other) => one.order - other.order);
    this.#part = [];
    const mayBeReasons = part.some(({ isGeneric }) => isGeneric) ? part.filter(isSpecific) : [];
    const reasons = groupBy(mayBeReasons, ({ order }) => order);
    for (const found of part) {
      if (found.isGeneric && reasons.get(found.order)?.some((other) => isReason(other, found))) continue;
      this.#queue.push(found.complete());
    }
  }

  /** A finding about the file, after all others. */
  addLast(code: RuleCode, place: Place, message: string): void {
    this.#queue.push({ finding: createFinding({ code, message }, place), pending: null });
  }

  /** Those that were found are not needed. */
  discard(): void {
    this.#part = [];
    this.#queue.length = this.#taken = 0;
  }

  /** How many are not taken yet. */
  waiting(): number {
    return this.#queue.length - this.#taken;
  }

  /** Those that are known, in their order, and others while they must be waited for. */
  async *take(mustWait: () => boolean): AsyncGenerator<Finding> {
    for (let entry = this.#queue[this.#taken]; entry !== undefined; entry = this.#queue[this.#taken]) {
      if (entry.pending !== null) {
        if (!mustWait()) break;
        await entry.pending;
      }
      this.#taken += 1;
      const { finding } = entry;
      if (finding !== null) yield typeof finding === 'function' ? finding() : finding;
    }
    this.#queue.splice(0, this.#taken);
    this.#taken = 0;
  }
}

interface Summary {
  code: RuleCode;
  /** The place of the first element. */
  place: Place;
  count: number;
  describe: (count: number) => string;
}

interface Found {
  /** That of its element. */
  order: number;
  /** Null: known when the answer about an IBAN is. */
  code: RuleCode | null;
  /** The name of the missing element; null if none is missing. */
  path: string | null;
  isGeneric: boolean;
  /** Called when all elements of the part are known, and so its place. */
  complete: () => Entry;
}

/** Whether a finding says more than that of the schema at the same element may. */
function isSpecific({ code, isGeneric, path }: Found): boolean {
  return code !== null && rules[code].severity === 'error' && (!isGeneric || path !== null);
}

/** Whether another finding at the same element says more than one of the schema. */
function isReason(other: Found, found: Found): boolean {
  if (other === found) return false;
  if (other.path === null) return found.path === null || other.code === 'ELEMENT_OF_OTHER_VERSION';
  return found.path !== null && !other.isGeneric && `${other.path}/`.startsWith(`${found.path}/`);
}

interface Entry {
  /** A function completes it, within a millisecond. Null while it is not known, and if there is none. */
  finding: Finding | (() => Finding) | null;
  /** Until the answer is known. */
  pending: Promise<void> | null;
}

function createFinding({ code, message, suggestion = null }: Problem, place: Place, about?: AboutPayment): Finding {
  const finding: Finding = { code, severity: rules[code].severity, place, message, suggestion };
  return about === undefined ? finding : { about, ...finding };
}

/** The payment, or the batch, that an element is in. */
function paymentOf(element: XmlElement): AboutPayment | undefined {
  for (let current: XmlElement | null = element; current !== null; current = current.parent) {
    const isDirectDebit = current.name === 'DrctDbtTxInf';
    if (isDirectDebit || current.name === 'CdtTrfTxInf') {
      const sum = findAmount(current, isDirectDebit);
      const amount = sum === null ? '' : `${sum.attributes.Ccy ?? ''} ${textOf(sum) ?? ''}`.trim();
      const payee = textOf(find(current, isDirectDebit ? 'Dbtr' : 'Cdtr', 'Nm')) ?? '';
      return { payee, amount, id: textOf(find(current, 'PmtId', 'EndToEndId')) ?? '' };
    }
    if (current.name === 'PmtInf') return { payee: null, amount: '', id: textOf(find(current, 'PmtInfId')) ?? '' };
  }
  return undefined;
}

function placeOf(element: XmlElement): { line: number; xpath: string } {
  return { line: element.line, xpath: xpathOf(element) };
}
