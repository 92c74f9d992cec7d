import { Agent } from 'undici';
import * as z from 'zod';
import { pause } from '../../async/pause.ts';
import { AbortableSignal } from '../../async/signal.ts';
import { errorCodeOf } from '../../errors.ts';
import { readRetryAfter } from '../../upstream/retry-after.ts';
import { PaymentFileError } from '../open-file.ts';
import type { Answer, AnswerSource } from './answer.ts';
import { describeOutage } from './bank-data-answers.ts';

interface GatewayAnswersOptions {
  /** Of the gateway, or of its GraphQL endpoint. */
  url: string;
  /** An API key or token of a caller; null: the gateway has no callers. */
  key: string | null;
  /** Limit for the IBANs that are sent; null: none. */
  maxCalls: number | null;
  /** The pauses before a failed query is sent again, in milliseconds. */
  pausesMs?: readonly number[];
}

/**
 * Answers of a running gateway, in lists of as many IBANs as it accepts.
 * @throws PaymentFileError if it cannot be reached or refuses the key
 */
export async function connectToGateway(options: GatewayAnswersOptions): Promise<AnswerSource> {
  const { key, maxCalls, pausesMs = defaultPausesMs } = options;
  const { origin, pathname } = readUrl(options.url);
  const path = pathname === '/' ? '/graphql' : pathname;
  const agent = new Agent({ connections: maxQueries, headersTimeout: timeoutMs, bodyTimeout: timeoutMs });
  const stopped = new AbortableSignal();
  let batchSize = 1;
  let waiting = new Map<string, Question>();
  let sent = 0;
  let running = 0;
  const queue: Question[][] = [];

  const send = async (body: object): Promise<Reply> => {
    const headers = { 'content-type': 'application/json', ...(key && { authorization: `Bearer ${key}` }) };
    const response = await agent.request({ origin, path, method: 'POST', headers, body: JSON.stringify(body) });
    const text = await response.body.text();
    const retryAt = readRetryAfter(response.headers['retry-after']);
    return { status: response.statusCode, retryAt, content: parseReply(text) };
  };

  try {
    const { status, content } = await send({ query: '{ limits { ibans } }' });
    const limit = limitsData.safeParse(content?.data).data?.limits.ibans ?? null;
    if (limit === null) throw new PaymentFileError(describeRefusal(origin, status, content));
    batchSize = Math.min(limit, maxBatch);
  } catch (error) {
    await agent.close();
    throw error instanceof PaymentFileError ? error : unreachable(origin, error);
  }

  function flush(): void {
    if (waiting.size === 0) return;
    queue.push([...waiting.values()]);
    waiting = new Map();
    startNext();
  }

  function startNext(): void {
    if (running >= maxQueries) return;
    const batch = queue.shift();
    if (batch === undefined) return;
    running += 1;
    void askAll(batch).finally(() => {
      running -= 1;
      startNext();
    });
  }

  /** Settles all questions of a batch. Those that failed are sent again, after a pause. */
  async function askAll(batch: readonly Question[]): Promise<void> {
    let open = batch;
    let code = 'UPSTREAM_FAILED';
    for (const pauseMs of [...pausesMs, null]) {
      if (stopped.aborted) break;
      const outcome = await sendList(open.map(({ iban }) => iban)).catch(toFailure);
      if ('stop' in outcome) stop(outcome.stop);
      const failed: Question[] = [];
      for (const [index, question] of open.entries()) {
        const answer = 'answers' in outcome ? outcome.answers[index] : undefined;
        if (answer?.kind === 'answered') question.resolve(answer);
        else failed.push(question);
        if (answer?.kind === 'failed') code = answer.code;
      }
      if ('code' in outcome) code = outcome.code;
      if (finalReasons[code] !== undefined && failed.length > 0) stop(finalReasons[code] ?? '');
      const isOutage = failed.length === open.length;
      open = failed;
      if (open.length === 0) return;
      if (pauseMs === null) {
        if (isOutage) stop(describeOutage({ code }));
        break;
      }
      const waitMs = 'retryAt' in outcome && outcome.retryAt ? outcome.retryAt.getTime() - Date.now() : 0;
      await pause(Math.min(Math.max(waitMs, pauseMs), maxPauseMs), stopped).catch(() => {});
    }
    const answer: Answer = stopped.aborted ? notAsked() : { kind: 'failed', code };
    for (const { resolve } of open) resolve(answer);
  }

  async function sendList(ibans: readonly string[]): Promise<Outcome> {
    const { status, retryAt, content } = await send({ query: validationQuery, variables: { ibans } });
    const list = validationData.safeParse(content?.data).data?.ibanValidations ?? null;
    if (list === null || list.length !== ibans.length) {
      const code = content?.errors?.[0]?.extensions?.code ?? `HTTP_${status}`;
      const isRefused = (status >= 400 && status < 500 && status !== 429 && status !== 408) || finalCodes.has(code);
      return isRefused ? { stop: describeRefusal(origin, status, content) } : { code, retryAt };
    }
    const codes = new Map<number, string>();
    for (const { path: at, extensions } of content?.errors ?? []) {
      if (typeof at?.[1] === 'number') codes.set(at[1], extensions?.code ?? 'UPSTREAM_FAILED');
    }
    return { answers: list.map((item, index) => toAnswer(item, codes.get(index) ?? 'UPSTREAM_FAILED')) };
  }

  function notAsked(): Answer {
    return { kind: 'not-asked', reason: String(stopped.reason) };
  }

  function stop(reason: string): void {
    stopped.abort(reason);
    // What was not sent is answered at once.
    flush();
  }

  return {
    id: `gateway ${origin}${path}`,
    ask(iban) {
      if (maxCalls !== null && sent >= maxCalls) return Promise.resolve({ kind: 'not-asked', reason: maxCallsReason });
      sent += 1;
      return new Promise((resolve) => {
        waiting.set(iban, { iban, resolve });
        if (waiting.size >= batchSize) flush();
      });
    },
    hurry(iban) {
      if (waiting.has(iban)) flush();
    },
    calls: () => sent,
    stopReason: () => (stopped.aborted ? String(stopped.reason) : maxCalls === sent ? maxCallsReason : null),
    stop,
    close: () => agent.close(),
  };
}

const maxCallsReason = 'the calls of --max-calls are used up';

/** Larger lists would only hold more memory on both sides. */
const maxBatch = 1_000;
const maxQueries = 2;
/** A list may take as long as the gateway waits for its service. */
const timeoutMs = 120_000;
const defaultPausesMs = [1_000, 2_000, 4_000, 8_000, 16_000];
const maxPauseMs = 60_000;

const finalReasons: Readonly<Record<string, string>> = {
  BUDGET_EXHAUSTED: 'the budget of this key is used up',
  UPSTREAM_REJECTED_CREDENTIALS: 'the service rejects the key of the gateway',
};
const finalCodes = new Set(['UNAUTHENTICATED', 'FORBIDDEN', 'BAD_USER_INPUT', 'QUERY_NOT_IN_SAFELIST']);

const validationQuery = `query CheckFile($ibans: [String!]!) {
  ibanValidations(ibans: $ibans) { valid nationalCheck bankData { name bic } }
}`;

interface Question {
  iban: string;
  resolve(answer: Answer): void;
}

type Outcome = { answers: readonly Answer[] } | { code: string; retryAt: Date | null } | { stop: string };

interface Reply {
  status: number;
  retryAt: Date | null;
  /** Null if the body is not that of a GraphQL response. */
  content: z.infer<typeof graphqlReply> | null;
}

const graphqlReply = z.object({
  data: z.unknown(),
  errors: z
    .array(
      z.object({
        message: z.string(),
        path: z.array(z.union([z.string(), z.number()])).optional(),
        extensions: z.object({ code: z.string().optional() }).optional(),
      }),
    )
    .optional(),
});

const limitsData = z.object({ limits: z.object({ ibans: z.number().int().min(1) }) });

const validation = z.object({
  valid: z.boolean().nullable(),
  nationalCheck: z.enum(['PASSED', 'FAILED', 'NOT_APPLICABLE']),
  bankData: z.object({ name: z.string().nullable(), bic: z.string().nullable() }).nullable(),
});
const validationData = z.object({ ibanValidations: z.array(validation.nullable()) });

function toAnswer(item: z.infer<typeof validation> | null, code: string): Answer {
  if (item === null || item.valid === null) return { kind: 'failed', code };
  const { valid, nationalCheck, bankData } = item;
  return { kind: 'answered', valid, bank: bankData?.name ?? null, bic: bankData?.bic ?? null, nationalCheck };
}

function parseReply(text: string): Reply['content'] {
  try {
    return graphqlReply.parse(JSON.parse(text));
  } catch {
    return null;
  }
}

function readUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '') return url;
  throw new PaymentFileError('--gateway must be a URL such as https://gateway.example.com, without a key in it');
}

function describeRefusal(origin: string, status: number, content: Reply['content']): string {
  if (status === 401) return `the gateway at ${origin} requires the key of a caller: set LEDGERQUILL_KEY`;
  const [error] = content?.errors ?? [];
  const reason = error === undefined ? `it responded ${status}, and not as a gateway does` : error.message;
  return `the gateway at ${origin} refuses the check: ${reason}`;
}

function unreachable(origin: string, error: unknown): PaymentFileError {
  return new PaymentFileError(`the gateway at ${origin} cannot be reached (${errorCodeOf(error) ?? 'unknown reason'})`);
}

/** A connection that failed is tried again; anything else is a fault of this program. */
function toFailure(error: unknown): Outcome {
  if (errorCodeOf(error) === null) throw error;
  return { code: errorCodeOf(error) ?? '', retryAt: null };
}
