import { Agent } from 'undici';
import * as z from 'zod';
import { errorCodeOf } from '../../base/errors.ts';
import { parseJson } from '../../base/parse-json.ts';
import { readRetryAfter } from '../../base/retry-after.ts';
import { PaymentFileError } from '../open-file.ts';
import { AnswerSource, type ListReply } from './answers.ts';

interface GatewayAnswersOptions {
  /** The URL of the gateway, or of its GraphQL endpoint. */
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
  const { key, maxCalls, pausesMs } = options;
  const { origin, pathname } = readUrl(options.url);
  const path = pathname === '/' ? '/graphql' : pathname;
  const agent = new Agent({ connections: maxQueries, headersTimeout: timeoutMs, bodyTimeout: timeoutMs });

  const send = async (body: object): Promise<Reply> => {
    const headers = { 'content-type': 'application/json', ...(key && { authorization: `Bearer ${key}` }) };
    const response = await agent.request({ origin, path, method: 'POST', headers, body: JSON.stringify(body) });
    const text = await response.body.text();
    const retryAt = readRetryAfter(response.headers['retry-after']);
    return { status: response.statusCode, retryAt, content: graphqlReply.safeParse(parseJson(text)).data ?? null };
  };

  async function sendList(ibans: readonly string[]): Promise<ListReply> {
    const failAll = (code: string): ListReply['results'] =>
      ibans.map(() => ({ kind: 'failed', code, isTemporary: true }));
    try {
      const { status, retryAt, content } = await send({ query: validationQuery, variables: { ibans } });
      const errors = content?.errors ?? [];
      const list = validationData.safeParse(content?.data).data?.ibanValidations ?? null;
      if (list === null || list.length !== ibans.length) {
        const code = errors[0]?.extensions?.code ?? `HTTP_${status}`;
        const isRefused = (status >= 400 && status < 500 && status !== 429 && status !== 408) || finalCodes.has(code);
        return isRefused
          ? { results: [], stopReason: describeRefusal(origin, status, content) }
          : { results: failAll(code), retryAt };
      }
      const codes = new Map(errors.map(({ path: at, extensions }) => [at?.[1], extensions?.code]));
      return { results: list.map((item, index) => toResult(item, codes.get(index))) };
    } catch (error) {
      const code = errorCodeOf(error);
      // A connection that failed is tried again.
      if (code !== null) return { results: failAll(code) };
      throw error;
    }
  }

  let maxList: number;
  try {
    const { status, content } = await send({ query: '{ limits { ibans } }' });
    const limit = limitsData.safeParse(content?.data).data?.limits.ibans ?? null;
    if (limit === null) throw new PaymentFileError(describeRefusal(origin, status, content));
    maxList = Math.min(limit, largestList);
  } catch (error) {
    await agent.close();
    if (error instanceof PaymentFileError) throw error;
    throw new PaymentFileError(
      `the gateway at ${origin} cannot be reached (${errorCodeOf(error) ?? 'unknown reason'})`,
    );
  }

  return new AnswerSource({
    send: sendList,
    maxList,
    maxLists: maxQueries,
    // What failed may be paid for, so it is not sent again under a limit.
    pausesMs: maxCalls === null ? pausesMs : [],
    limit: maxCalls === null ? null : { ibans: maxCalls, reason: 'the calls of --max-calls are used up' },
    budgetReason: 'the budget of this key is used up',
    close: () => agent.close(),
  });
}

/** Larger ones would only hold more memory on both sides. */
const largestList = 1_000;
const maxQueries = 2;
/** A list may take as long as the gateway waits for its service. */
const timeoutMs = 120_000;
const finalCodes = new Set(['UNAUTHENTICATED', 'FORBIDDEN', 'BAD_USER_INPUT', 'QUERY_NOT_IN_SAFELIST']);

const validationQuery = `query CheckFile($ibans: [String!]!) {
  ibanValidations(ibans: $ibans) { valid nationalCheck bankData { name bic } }
}`;

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

function toResult(item: z.infer<typeof validation> | null, code = 'UPSTREAM_FAILED'): ListReply['results'][number] {
  if (item === null || item.valid === null) return { kind: 'failed', code, isTemporary: true };
  const { valid, nationalCheck, bankData } = item;
  return { kind: 'answered', valid, bank: bankData?.name ?? null, bic: bankData?.bic ?? null, nationalCheck };
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
