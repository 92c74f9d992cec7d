import { connect } from 'node:net';
import type { GraphqlAnswer, GraphqlClient } from './load.ts';
import { type Behavior, scriptedBankName, scriptedIban } from './scripted-ibans.ts';

/** Sends one request. Resolves to `answered`, `disconnected`, an error code, or a problem with the answer. */
export type Scenario = (number: number, client: GraphqlClient) => Promise<string>;

/** Errors that the scripted upstream causes; other errors are failures of the gateway. */
const expectedCodes = ['UPSTREAM_FAILED', 'UPSTREAM_TIMED_OUT', 'UPSTREAM_UNAVAILABLE'];
/** Number of IBANs and essays that are requested repeatedly. */
const repeated = 50;
const validationFields = 'iban valid bankData { name }';

const sendCached: Scenario = async (number, client) => {
  const iban = scriptedIban('answer', number % repeated);
  const query = `query Cached($iban: String!) { answer: ibanValidation(iban: $iban) { ${validationFields} } }`;
  return checkValidation(await client.send(query, { iban }), iban);
};

/** A new document with a new IBAN. */
function sendFresh(behavior: Behavior): Scenario {
  return async (number, client) => {
    const iban = freshIban(behavior, number);
    return checkValidation(await client.send(freshDocument(iban, number)), iban, behavior);
  };
}

/** 4 cached IBANs, 4 new ones, 2 impossible ones. */
const sendList: Scenario = async (number, client) => {
  const ibans = Array.from({ length: 10 }, (_, index) => {
    if (index < 4) return scriptedIban('answer', (number + index) % repeated);
    return index < 8 ? freshIban('answer', number * 10 + index) : impossibleIban(number);
  });
  const query = `query List($ibans: [String!]!) { answers: ibanValidations(ibans: $ibans) { ${validationFields} } }`;
  const { data, errors = [] } = await client.send(query, { ibans });
  const answers = (data?.answers ?? []) as unknown[];
  const outcomes = ibans.map((iban, index) => {
    const error = errors.find(({ path }) => path?.[1] === index);
    if (error) return answers[index] === null ? readCode(error) : 'an error with an answer';
    const expected = index < 8 ? validation(iban) : { iban, valid: false, bankData: null };
    return isSame(answers[index], expected) ? 'answered' : 'a wrong answer';
  });
  return outcomes.find((outcome) => outcome !== 'answered') ?? 'answered';
};

const sendImpossible: Scenario = async (number, client) => {
  const iban = impossibleIban(number);
  const { data, errors } = await client.send(
    `query Impossible${number} { answer: ibanValidation(iban: "${iban}") { iban valid problems suggestions } }`,
  );
  const { suggestions = [], ...answer } = (data?.answer ?? {}) as { suggestions?: string[] };
  const isCorrect = isSame(answer, { iban, valid: false, problems: ['WRONG_CHECK_DIGITS'] }) && suggestions.length > 0;
  return isCorrect && errors === undefined ? 'answered' : 'a wrong answer';
};

function sendInvalid(document: (number: number) => string, code: string): Scenario {
  return async (number, client) => {
    const { errors = [] } = await client.send(document(number));
    return errors.length > 0 && errors.every((error) => error.extensions?.code === code)
      ? 'answered'
      : 'a wrong answer';
  };
}

function sendEssay(behavior: Behavior): Scenario {
  return async (number, client) => checkEssay(await client.send(essayDocument(behavior, number)), behavior, number);
}

/** Orders one of the repeated essays by its key; after the first time, it is answered from the store. */
const orderAgain: Scenario = async (number, client) => {
  const order = number % repeated;
  return checkEssay(await client.send(essayDocument('answer', order, `order ${order}`)), 'answer', order);
};

/** Disconnects during an answer that takes 200 ms. */
function disconnect(document: (number: number) => string): Scenario {
  return async (number, client) => {
    const signal = AbortSignal.timeout(1 + (number % 190));
    try {
      const { data } = await client.send(document(number), {}, signal);
      return data?.answer === undefined ? 'a wrong answer' : 'answered';
    } catch (error) {
      if (signal.aborted) return 'disconnected';
      throw error;
    }
  };
}

/** Two simultaneous requests for the same IBAN, one of which disconnects. */
const sendTwice: Scenario = async (number, client) => {
  const iban = freshIban('delay', number);
  const disconnected = disconnect(() => freshDocument(iban, number))(number, client);
  const outcome = checkValidation(await client.send(freshDocument(iban, number + 0.5)), iban);
  await disconnected;
  return outcome;
};

/** Disconnects while sending the request. */
export function abortUpload(url: string): Scenario {
  const { hostname, port, host, pathname } = new URL(url);
  return (number) =>
    new Promise((resolve) => {
      const head = `POST ${pathname} HTTP/1.1\r\nhost: ${host}\r\ncontent-type: application/json\r\ncontent-length: 5000\r\n\r\n`;
      const socket = connect(Number(port), hostname, () => {
        socket.write(`${head}{"query":"${'#'.repeat(number % 4_000)}`);
        setTimeout(() => socket.destroy(), number % 20);
      });
      socket.on('error', () => {});
      socket.on('close', () => resolve('disconnected'));
    });
}

/** @property share requests of this kind per 100 */
export const mixedScenarios: readonly { kind: string; share: number; run: Scenario }[] = [
  { kind: 'cached IBAN', share: 30, run: sendCached },
  { kind: 'fresh IBAN', share: 20, run: sendFresh('answer') },
  { kind: 'list of 10 IBANs', share: 8, run: sendList },
  { kind: 'impossible IBAN', share: 6, run: sendImpossible },
  { kind: 'document with a syntax error', share: 3, run: sendInvalid((n) => `{ open${n}(`, 'GRAPHQL_PARSE_FAILED') },
  { kind: 'unknown field', share: 3, run: sendInvalid((n) => `{ none${n} }`, 'GRAPHQL_VALIDATION_FAILED') },
  { kind: 'IBAN, slow upstream', share: 3, run: sendFresh('delay') },
  { kind: 'IBAN, upstream answers 500', share: 2, run: sendFresh('fail') },
  { kind: 'IBAN, upstream past the deadline', share: 2, run: sendFresh('hang') },
  { kind: 'IBAN, upstream truncates its answer', share: 2, run: sendFresh('truncate') },
  { kind: 'IBAN, upstream resets', share: 2, run: sendFresh('reset') },
  { kind: 'IBAN, two at once, one disconnects', share: 3, run: sendTwice },
  { kind: 'IBAN, client disconnects', share: 4, run: disconnect((n) => freshDocument(freshIban('delay', n), n)) },
  { kind: 'essay', share: 1, run: sendEssay('answer') },
  { kind: 'essay, ordered again', share: 5, run: orderAgain },
  { kind: 'essay, upstream answers 500', share: 1, run: sendEssay('fail') },
  { kind: 'essay, upstream past the deadline', share: 1, run: sendEssay('hang') },
  { kind: 'essay, upstream truncates its answer', share: 1, run: sendEssay('truncate') },
  { kind: 'essay, client disconnects', share: 1, run: disconnect((n) => essayDocument('delay', n)) },
];

export function isExpected(outcome: string): boolean {
  return outcome === 'answered' || outcome === 'disconnected' || expectedCodes.includes(outcome);
}

function freshIban(behavior: Behavior, number: number): string {
  return scriptedIban(behavior, repeated + number);
}

/** A typing error in the last digit. */
function impossibleIban(number: number): string {
  const iban = scriptedIban('answer', number);
  const last = Number(iban.at(-1));
  return `${iban.slice(0, -1)}${last === 9 ? 8 : last + 1}`;
}

function freshDocument(iban: string, number: number): string {
  return `# ${number}\nquery Fresh { answer: ibanValidation(iban: "${iban}") { ${validationFields} } }`;
}

function essayDocument(behavior: Behavior, number: number, idempotencyKey?: string): string {
  const key = idempotencyKey === undefined ? '' : `, idempotencyKey: "${idempotencyKey}"`;
  const input = `{ description: "${behavior} ${number}", mode: ACADEMIC, wordCount: 300${key} }`;
  return `mutation { answer: generateEssay(input: ${input}) { __typename ... on Essay { text } ... on EssayServiceFailed { code } } }`;
}

function checkValidation({ status, data, errors = [] }: GraphqlAnswer, iban: string, behavior: Behavior = 'answer') {
  const [error] = errors;
  if (status !== 200) return `HTTP ${status}`;
  if (error) return data?.answer === null && errors.length === 1 ? readCode(error) : 'an error with an answer';
  const mayAnswer = behavior === 'answer' || behavior === 'delay';
  return mayAnswer && isSame(data?.answer, validation(iban)) ? 'answered' : 'a wrong answer';
}

function checkEssay({ data, errors }: GraphqlAnswer, behavior: Behavior, number: number): string {
  const answer = (data?.answer ?? {}) as { __typename?: string; text?: string; code?: string };
  if (errors !== undefined) return 'an error in addition to the union';
  if (answer.__typename === 'EssayServiceFailed') return answer.code ?? 'no code';
  return behavior === 'answer' && answer.text?.startsWith(`${behavior} ${number}\n`) ? 'answered' : 'a wrong answer';
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
