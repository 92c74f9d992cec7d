import { connect } from 'node:net';
import type { GraphqlAnswer, GraphqlClient } from './load.ts';
import { type Manner, scriptedBankName, scriptedIban } from './scripted-ibans.ts';

/** Asks one question and says what came of it: `answered`, `hung up` or the code of a foreseen failure. */
export type Question = (number: number, client: GraphqlClient) => Promise<string>;

/** What a caller may meet that the gateway has no fault in. Everything else that is not right is a fault. */
const foreseen = ['UPSTREAM_FAILED', 'UPSTREAM_TIMED_OUT', 'UPSTREAM_UNAVAILABLE'];
/** So many IBANs are asked for, and so many essays ordered, again and again. */
const wellKnown = 50;
const validationFields = 'iban valid bankData { name }';

const askCached: Question = async (number, client) => {
  const iban = scriptedIban('answer', number % wellKnown);
  const query = `query Cached($iban: String!) { answer: ibanValidation(iban: $iban) { ${validationFields} } }`;
  return judgeValidation(await client.ask(query, { iban }), iban);
};

/** A document like no other about an IBAN that nobody asked for before. */
function askFresh(manner: Manner): Question {
  return async (number, client) => {
    const iban = freshIban(manner, number);
    return judgeValidation(await client.ask(freshDocument(iban, number)), iban, manner);
  };
}

/** Some cached, some not, some that cannot be. */
const askList: Question = async (number, client) => {
  const ibans = Array.from({ length: 10 }, (_, index) => {
    if (index < 4) return scriptedIban('answer', (number + index) % wellKnown);
    return index < 8 ? freshIban('answer', number * 10 + index) : impossibleIban(number);
  });
  const query = `query List($ibans: [String!]!) { answers: ibanValidations(ibans: $ibans) { ${validationFields} } }`;
  const { data, errors = [] } = await client.ask(query, { ibans });
  const answers = (data?.answers ?? []) as unknown[];
  const outcomes = ibans.map((iban, index) => {
    const error = errors.find(({ path }) => path?.[1] === index);
    if (error) return answers[index] === null ? readCode(error) : 'a failure with an answer';
    const right = index < 8 ? validation(iban) : { iban, valid: false, bankData: null };
    return isSame(answers[index], right) ? 'answered' : 'a wrong answer';
  });
  return outcomes.find((outcome) => outcome !== 'answered') ?? 'answered';
};

const askImpossible: Question = async (number, client) => {
  const iban = impossibleIban(number);
  const { data, errors } = await client.ask(
    `query Impossible${number} { answer: ibanValidation(iban: "${iban}") { iban valid problems suggestions } }`,
  );
  const { suggestions = [], ...answer } = (data?.answer ?? {}) as { suggestions?: string[] };
  const isRight = isSame(answer, { iban, valid: false, problems: ['WRONG_CHECK_DIGITS'] }) && suggestions.length > 0;
  return isRight && errors === undefined ? 'answered' : 'a wrong answer';
};

function askUnreadable(document: (number: number) => string, code: string): Question {
  return async (number, client) => {
    const { errors = [] } = await client.ask(document(number));
    return errors.length > 0 && errors.every((error) => error.extensions?.code === code)
      ? 'answered'
      : 'a wrong answer';
  };
}

function askEssay(manner: Manner): Question {
  return async (number, client) => judgeEssay(await client.ask(essayDocument(manner, number)), manner, number);
}

/** Orders one of a few essays under its key: the first time it is written, from then on answered from the store. */
const orderAgain: Question = async (number, client) => {
  const order = number % wellKnown;
  return judgeEssay(await client.ask(essayDocument('answer', order, `order ${order}`)), 'answer', order);
};

/** Hangs up at some moment of an answer that takes 200 ms. */
function hangUp(document: (number: number) => string): Question {
  return async (number, client) => {
    const signal = AbortSignal.timeout(1 + (number % 190));
    try {
      const { data } = await client.ask(document(number), {}, signal);
      return data?.answer === undefined ? 'a wrong answer' : 'answered';
    } catch (error) {
      if (signal.aborted) return 'hung up';
      throw error;
    }
  };
}

/** Two ask for the same at the same time, and one of them hangs up. */
const askTogether: Question = async (number, client) => {
  const iban = freshIban('dawdle', number);
  const leaver = hangUp(() => freshDocument(iban, number))(number, client);
  const outcome = judgeValidation(await client.ask(freshDocument(iban, number + 0.5)), iban);
  await leaver;
  return outcome;
};

/** Hangs up in the middle of the request. */
export function breakOff(url: string): Question {
  const { hostname, port, host, pathname } = new URL(url);
  return (number) =>
    new Promise((resolve) => {
      const head = `POST ${pathname} HTTP/1.1\r\nhost: ${host}\r\ncontent-type: application/json\r\ncontent-length: 5000\r\n\r\n`;
      const socket = connect(Number(port), hostname, () => {
        socket.write(`${head}{"query":"${'#'.repeat(number % 4_000)}`);
        setTimeout(() => socket.destroy(), number % 20);
      });
      socket.on('error', () => {});
      socket.on('close', () => resolve('hung up'));
    });
}

/** So many of a hundred questions are of this kind. */
export const mixedQuestions: readonly { kind: string; share: number; ask: Question }[] = [
  { kind: 'cached IBAN', share: 30, ask: askCached },
  { kind: 'fresh IBAN', share: 20, ask: askFresh('answer') },
  { kind: 'list of 10 IBANs', share: 8, ask: askList },
  { kind: 'impossible IBAN', share: 6, ask: askImpossible },
  { kind: 'document with a syntax error', share: 3, ask: askUnreadable((n) => `{ open${n}(`, 'GRAPHQL_PARSE_FAILED') },
  { kind: 'unknown field', share: 3, ask: askUnreadable((n) => `{ none${n} }`, 'GRAPHQL_VALIDATION_FAILED') },
  { kind: 'IBAN, slow upstream', share: 3, ask: askFresh('dawdle') },
  { kind: 'IBAN, upstream answers 500', share: 2, ask: askFresh('fail') },
  { kind: 'IBAN, upstream past the deadline', share: 2, ask: askFresh('hang') },
  { kind: 'IBAN, upstream breaks off', share: 2, ask: askFresh('truncate') },
  { kind: 'IBAN, upstream resets', share: 2, ask: askFresh('reset') },
  { kind: 'IBAN, two at once, one hangs up', share: 3, ask: askTogether },
  { kind: 'IBAN, client hangs up', share: 4, ask: hangUp((n) => freshDocument(freshIban('dawdle', n), n)) },
  { kind: 'essay', share: 1, ask: askEssay('answer') },
  { kind: 'essay, ordered again', share: 5, ask: orderAgain },
  { kind: 'essay, upstream answers 500', share: 1, ask: askEssay('fail') },
  { kind: 'essay, upstream past the deadline', share: 1, ask: askEssay('hang') },
  { kind: 'essay, upstream breaks off', share: 1, ask: askEssay('truncate') },
  { kind: 'essay, client hangs up', share: 1, ask: hangUp((n) => essayDocument('dawdle', n)) },
];

export function isRight(outcome: string): boolean {
  return outcome === 'answered' || outcome === 'hung up' || foreseen.includes(outcome);
}

function freshIban(manner: Manner, number: number): string {
  return scriptedIban(manner, wellKnown + number);
}

/** The last digit slipped to the key beside it. */
function impossibleIban(number: number): string {
  const iban = scriptedIban('answer', number);
  const last = Number(iban.at(-1));
  return `${iban.slice(0, -1)}${last === 9 ? 8 : last + 1}`;
}

function freshDocument(iban: string, number: number): string {
  return `# ${number}\nquery Fresh { answer: ibanValidation(iban: "${iban}") { ${validationFields} } }`;
}

function essayDocument(manner: Manner, number: number, idempotencyKey?: string): string {
  const key = idempotencyKey === undefined ? '' : `, idempotencyKey: "${idempotencyKey}"`;
  const input = `{ description: "${manner} ${number}", mode: ACADEMIC, wordCount: 300${key} }`;
  return `mutation { answer: generateEssay(input: ${input}) { __typename ... on Essay { text } ... on EssayServiceFailed { code } } }`;
}

function judgeValidation({ status, data, errors = [] }: GraphqlAnswer, iban: string, manner: Manner = 'answer') {
  const [error] = errors;
  if (status !== 200) return `HTTP ${status}`;
  if (error) return data?.answer === null && errors.length === 1 ? readCode(error) : 'a failure with an answer';
  const mayAnswer = manner === 'answer' || manner === 'dawdle';
  return mayAnswer && isSame(data?.answer, validation(iban)) ? 'answered' : 'a wrong answer';
}

function judgeEssay({ data, errors }: GraphqlAnswer, manner: Manner, number: number): string {
  const answer = (data?.answer ?? {}) as { __typename?: string; text?: string; code?: string };
  if (errors !== undefined) return 'an error beside the union';
  if (answer.__typename === 'EssayServiceFailed') return answer.code ?? 'no code';
  return manner === 'answer' && answer.text?.startsWith(`${manner} ${number}\n`) ? 'answered' : 'a wrong answer';
}

function validation(iban: string): object {
  return { iban, valid: true, bankData: { name: scriptedBankName(iban) } };
}

function isSame(left: unknown, right: unknown): boolean {
  return JSON.stringify(left) === JSON.stringify(right);
}

function readCode({ extensions }: { extensions?: { code?: string } }): string {
  return extensions?.code ?? 'no code';
}
