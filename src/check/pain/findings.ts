import { groupBy } from '../../base/group-by.ts';
import { countOf } from '../../base/process/terminal.ts';
import type { Answer, Answers } from '../answers/answers.ts';
import type { BankFacts } from '../bank-facts.ts';
import {
  type AboutPayment,
  createFinding,
  holds,
  type MessageFinding,
  type MessagePlace,
  type RuleCode,
  rules,
  type Scheme,
} from '../finding.ts';
import type { FingerprintMap } from '../fingerprints.ts';
import { OrderedQueue } from '../ordered-queue.ts';
import { find, textOf, type XmlElement, xpathOf } from './elements.ts';
import { findAmount } from './profiles.ts';
import type { SchemaCommunity } from './schema.ts';

/** What the checks of a part need. */
export interface CheckContext {
  findings: MessageFindings;
  banks: BankFacts;
  /** ISO 8601, such as 2026-11-26. */
  today: string;
  /** The different IBANs of the message, to which those of a part are added. */
  ibans: FingerprintMap;
  /** What was reported once for the payment that is read. */
  reported: Set<string>;
}

/** What was found. The message never contains a whole IBAN, unlike the suggestion, which is a function if it takes up to a millisecond. */
export interface Problem {
  code: RuleCode;
  message: string;
  suggestion?: string | null | (() => string | null);
}

/** A problem at an element. */
export interface FoundProblem extends Problem {
  element: XmlElement;
  /** The name of the missing element, such as Id/IBAN; without it, none is missing. */
  path?: string;
  /** Whether only the schema refuses it: not reported if a rule finds the reason of it at the same element. */
  isGeneric?: boolean;
  /** Whose schema refuses it, if each part is compared with two: that of German banks holds for their SEPA payments. */
  community?: SchemaCommunity;
}

/** Whether there is a problem depends on an answer. */
interface Asked {
  element: XmlElement;
  problem: Promise<Problem | null>;
}

/** The findings of a message, in the order of its elements: one that needs the answer about an IBAN holds up those that follow. */
export class MessageFindings {
  /** The rules for the part that is checked: those of other schemes find nothing. */
  scheme: Scheme = 'iso';
  /** ISO 8601: the day on which the part is executed. Rules that hold from a later day find nothing. */
  day = '';
  /** By their codes and texts. */
  readonly #summaries = new Map<string, Summary>();
  /** Those of the part that is being read. Their places are known when all of its elements are. */
  #part: (FoundProblem | Asked)[] = [];
  /** What creates each finding; null: by an answer, there is none. */
  readonly #queue = new OrderedQueue<(() => MessageFinding) | null>();
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

  /** @param element null: it is missing, so nothing is found */
  add(code: RuleCode, element: XmlElement | null, message: string, suggestion: Problem['suggestion'] = null): void {
    if (element !== null) this.addProblem({ code, element, message, suggestion });
  }

  /** @param path of the missing element, such as Id/IBAN */
  addMissing(parent: XmlElement, path: string, more: Partial<FoundProblem> = {}): void {
    const agent = [path, parent.name].find((name) => /^(?:Dbtr|Cdtr)Agt$/.test(name));
    const advice =
      agent === undefined ? '' : ` Without a BIC, a SEPA payment has ${agent}/FinInstnId/Othr/Id with NOTPROVIDED.`;
    const message = `${path} is missing in ${parent.name}. It is mandatory.${advice}`;
    this.addProblem({ code: 'MISSING_ELEMENT', element: parent, message, path, ...more });
  }

  addProblem(problem: FoundProblem): void {
    if (!holds(problem.code, this.scheme, this.day)) return;
    this.#onProblem(problem);
    this.#part.push(problem);
  }

  /**
   * One finding for all elements that break a rule, at the first of them.
   * @param noun what is counted at the start of the message; null: nothing
   */
  addSummary(code: RuleCode, element: XmlElement, noun: string | null, text: string): void {
    if (!holds(code, this.scheme, this.day)) return;
    const key = `${code} ${text}`;
    const summary = this.#summaries.get(key) ?? { code, place: placeOf(element), count: 0, noun, text };
    this.#summaries.set(key, summary);
    summary.count += 1;
  }

  /** After the last part. */
  endMessage(): void {
    for (const { code, place, count, noun, text } of this.#summaries.values()) {
      this.addLast(code, place, noun === null ? text : `${countOf(count, noun)} ${text}`);
    }
    this.#summaries.clear();
  }

  /** A problem that depends on the answer about a valid IBAN. */
  addAnswered(element: XmlElement, iban: string, judge: (answer: Answer) => Problem | null): void {
    const answer = this.#answers.find(iban);
    const problem = answer instanceof Promise ? answer.then(judge) : judge(answer);
    if (problem instanceof Promise) {
      // A failure is thrown where it is waited for.
      problem.catch(() => {});
      this.#part.push({ element, problem });
    } else if (problem !== null) this.#part.push({ element, ...problem });
  }

  /** The findings of the part are complete. */
  endPart(): void {
    const community = this.scheme === 'dk' ? 'dk' : 'iso';
    const part = this.#part
      .filter((each) => !('code' in each) || (each.community ?? community) === community)
      .sort((one, other) => one.element.order - other.element.order);
    this.#part = [];
    const found = part.filter((each) => 'code' in each);
    const reasons = found.some(({ isGeneric }) => isGeneric)
      ? groupBy(found.filter(isSpecific), ({ element }) => element)
      : null;
    for (const each of part) {
      const { element } = each;
      if ('problem' in each) this.#queue.add(each.problem.then((found) => found && complete({ element, ...found })));
      else if (!each.isGeneric || !reasons?.get(element)?.some((other) => isReason(other, each))) {
        this.#queue.add(complete(each));
      }
    }
  }

  /** A finding about the file, after all others. */
  addLast(code: RuleCode, place: MessagePlace, message: string): void {
    this.#queue.add(() => createFinding(code, place, message));
  }

  /** Those that were found are not needed. */
  discard(): void {
    this.#part = [];
    this.#queue.clear();
  }

  /** How many are not taken yet. */
  waiting(): number {
    return this.#queue.length;
  }

  /** Those that are known, in their order, and others while they must be waited for. */
  async *take(mustWait: () => boolean): AsyncGenerator<MessageFinding> {
    for await (const create of this.#queue.take(mustWait)) if (create !== null) yield create();
  }
}

interface Summary {
  code: RuleCode;
  /** The place of the first element. */
  place: MessagePlace;
  count: number;
  noun: string | null;
  text: string;
}

/** Whether a problem says more than that of the schema at the same element may. */
function isSpecific({ code, isGeneric, path }: FoundProblem): boolean {
  return rules[code].severity === 'error' && (!isGeneric || path !== undefined);
}

/** Whether another problem at the same element says more than one of the schema. */
function isReason(other: FoundProblem, found: FoundProblem): boolean {
  if (other === found) return false;
  if (other.path === undefined) return found.path === undefined || other.code === 'ELEMENT_OF_OTHER_VERSION';
  return found.path !== undefined && !other.isGeneric && `${other.path}/`.startsWith(`${found.path}/`);
}

/** With its place. */
function complete({ code, message, suggestion, element, path }: FoundProblem): () => MessageFinding {
  const { line, xpath } = placeOf(element);
  const place = { line, xpath: path === undefined ? xpath : `${xpath}/${path}` };
  const about = paymentOf(element);
  return () => {
    const right = typeof suggestion === 'function' ? suggestion() : suggestion;
    return { ...createFinding(code, place, message, right), ...(about && { about }) };
  };
}

/** The payment, or the batch, that an element is in. */
function paymentOf(element: XmlElement): AboutPayment | undefined {
  let about: AboutPayment | undefined;
  for (let current: XmlElement | null = element; current !== null; current = current.parent) {
    const isDirectDebit = current.name === 'DrctDbtTxInf';
    if (isDirectDebit || current.name === 'CdtTrfTxInf') {
      const sum = findAmount(current, isDirectDebit);
      const amount = `${sum?.attributes.Ccy ?? ''} ${textOf(sum) ?? ''}`.trim();
      const payee = textOf(find(current, isDirectDebit ? 'Dbtr' : 'Cdtr', 'Nm')) ?? '';
      about = { batch: '', payee, amount, endToEndId: textOf(find(current, 'PmtId', 'EndToEndId')) ?? '' };
    } else if (current.name === 'PmtInf') {
      const batch = textOf(find(current, 'PmtInfId')) ?? '';
      return { payee: null, amount: '', endToEndId: '', ...about, batch };
    }
  }
  return about;
}

export function placeOf(element: XmlElement): MessagePlace {
  return { line: element.line, xpath: xpathOf(element) };
}
