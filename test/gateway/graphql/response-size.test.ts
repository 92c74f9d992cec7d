import { beforeEach, describe, expect, it, vi } from 'vitest';
import { createTimeSlices } from '../../../src/base/async/time-slices.ts';
import { createReplies } from '../../../src/gateway/graphql/request/reply.ts';
import { chooseStreamFormat } from '../../../src/gateway/graphql/request/stream-formats.ts';
import { tCaller } from '../../support/gateway/callers.ts';
import { repeat, tContext, tDocuments } from '../../support/gateway/graphql/documents.ts';
import { tFetch } from '../../support/gateway/graphql/graphql-server.ts';
import { type Answer, tGateway } from '../../support/gateway.ts';
import { turns } from '../../support/turns.ts';

/* What an answer weighs is bounded before it is built: by the cost of its texts, and by its bytes while it is written. */

/** The control character has six bytes in JSON. */
const ibans = Array.from({ length: 1_000 }, (_, index) => `${'\u0001'.repeat(60)}${index}`);
const ibansWith = (aliases: number) =>
  `query ($ibans: [String!]!) { ibanValidations(ibans: $ibans) { ${repeat(aliases, (i) => `a${i}: iban`)} } }`;
const maxBytes = 1_000_000;
const env = { MAX_RESPONSE_BYTES: String(maxBytes) };

/** The characters that JSON.stringify has written. */
let written = 0;
beforeEach(() => {
  written = 0;
  const { stringify } = JSON;
  vi.spyOn(JSON, 'stringify').mockImplementation((...args: Parameters<typeof stringify>) => {
    const text = stringify(...args);
    written += text?.length ?? 0;
    return text;
  });
});

function expectRefused({ data, errors }: Answer, message: RegExp): void {
  expect(data).toBeUndefined();
  expect(errors).toHaveLength(1);
  expect(errors?.[0]).toMatchObject({
    message: expect.stringMatching(message),
    extensions: { code: 'BAD_USER_INPUT' },
  });
}

const tooLong = /^The response has more than 1000000 bytes \(MAX_RESPONSE_BYTES\): select fewer/;

describe('the cost of a long text', () => {
  it.each([
    [
      '900 aliases of a description of 40 orders',
      `{ essayOrders(first: 40) { nodes { input { ${repeat(900, (i) => `d${i}: description`)} } } } }`,
    ],
    [
      '2,000 descriptions',
      `{ essayOrders(first: 100) { nodes { input { ${repeat(20, (i) => `d${i}: description`)} } } } }`,
    ],
    [
      '1,200 texts',
      `{ ${repeat(300, (i) => `e${i}: essay(id: "x") { ...T }`)} } fragment T on Essay { text a: text b: text c: text }`,
    ],
    ['20,000 titles', `{ essayOrders(first: 100) { nodes { input { ${repeat(100, (i) => `t${i}: titles`)} } } } }`],
  ])('refuses before execution: %s', async (_, query) => {
    const gateway = tGateway();
    const response = await gateway.postLocally({ query }, { accept: 'application/graphql-response+json' });
    expect(response.status).toBe(400);
    const text = await response.text();
    expect(text.length).toBeLessThan(1_000);
    expectRefused(JSON.parse(text), /^The query costs \d+; it may cost at most 100000 \(MAX_QUERY_COST\)/);
  });

  it('leaves room for a page of orders with their texts', async () => {
    const query = `{ essayOrders(first: 100) { nodes { id state { ... on EssayFinished { essay { title text wordCount } } }
      input { description titles mode } } } }`;
    expect((await tGateway().ask(query)).errors).toBeUndefined();
  });
});

describe('a response of more than MAX_RESPONSE_BYTES', () => {
  it('is refused while it is written, interpreted and compiled, as POST and through Yoga', async () => {
    const { graphql, postLocally } = tGateway({ env });
    const query = ibansWith(30);
    for (let time = 0; time < 4; time += 1) {
      written = 0;
      const response = await postLocally({ query, variables: { ibans } });
      expectRefused((await response.json()) as Answer, tooLong);
      expect(response.status).toBe(200);
      // The request, which is 0.4 MB, and what was written before the limit.
      expect(written).toBeLessThan(2.2 * maxBytes);
      await turns(3);
    }
    expect(graphql.caches().replies.entries).toBe(0);
  });

  it('is refused with GET', async () => {
    const { graphql } = tGateway({ env });
    const query = `{ ${repeat(10, (c) => `c${c}: countries { ${repeat(90, (n) => `${'a'.repeat(80)}${n}: name`)} }`)} }`;
    const response = await graphql.fetch(`http://gateway/graphql?${new URLSearchParams({ query })}`, {
      headers: { accept: 'application/graphql-response+json' },
    });
    expect(response.status).toBe(400);
    expectRefused((await response.json()) as Answer, tooLong);
    expect(written).toBeLessThan(1.2 * maxBytes);
  });

  it('is refused for entities', async () => {
    const query = `query ($r: [_Any!]!) { _entities(representations: $r) {
      ... on IbanCountry { ${repeat(80, (n) => `n${n}: ibanFormatAsRegex`)} } } }`;
    const r = Array.from({ length: 1_000 }, () => ({ __typename: 'IbanCountry', code: 'MT' }));
    expectRefused(await tGateway({ env }).ask(query, { r }), tooLong);
    expect(written).toBeLessThan(1.3 * maxBytes);
  });

  it('is sent if it has exactly as many bytes, with its parts in order', async () => {
    const query = ibansWith(12);
    const whole = await tGateway().postLocally({ query, variables: { ibans } });
    const text = await whole.text();
    expect(text).toBe(JSON.stringify(JSON.parse(text)));
    const bytes = Buffer.byteLength(text);
    expect(bytes).toBeGreaterThan(4_000_000);
    const limited = (limit: number) => tGateway({ env: { MAX_RESPONSE_BYTES: String(limit) } }).ask(query, { ibans });
    expect((await limited(bytes)).errors).toBeUndefined();
    expect((await limited(bytes - 1)).errors?.[0]?.message).toContain(`more than ${bytes - 1} bytes`);
  });
});

describe('a response of more than MAX_RESPONSE_BYTES, without Yoga', () => {
  it('is refused as an ordinary POST, interpreted and compiled', async () => {
    const { graphql } = tGateway({ env });
    const body = JSON.stringify({ query: ibansWith(30), variables: { ibans } });
    const send = tFetch(graphql.answer, { ...tCaller, scopes: new Set(['bank-data'] as const) });
    for (let time = 0; time < 4; time += 1) {
      written = 0;
      const response = await send('http://gateway/graphql', { method: 'POST', body });
      expectRefused((await response.json()) as Answer, tooLong);
      expect(written).toBeLessThan(1.2 * maxBytes);
      await turns(3);
    }
  });

  it('is refused for each result of a subscription', async () => {
    const results = (async function* () {
      yield { data: { essayOrder: { texts: Array.from({ length: 300 }, () => 'x'.repeat(10_000)) } } };
      yield { data: { essayOrder: { texts: [] } } };
    })();
    const replies = createReplies({
      hasCallers: false,
      extensions: [],
      maxReplyBytes: maxBytes,
      inTimeSlice: createTimeSlices(4),
      redact: (message) => message,
      events: { unexpectedError: () => {} },
    });
    const format = chooseStreamFormat('text/event-stream');
    if (format === null) throw new Error('there is no such format');
    const request = { headers: {}, mediaType: 'application/json', requestId: 'id' } as const;
    const operation = tDocuments().prepare('subscription { essayOrder(id: "known") { id } }').operation(null);
    const { requestContext } = tContext();
    const executed = { operation, requestContext, documentId: null, isTrusted: false };
    const { stream } = replies.createStream(format, results, request, tCaller, executed);
    const texts: string[] = [];
    for await (const text of stream?.results ?? []) texts.push(text);
    expectRefused(JSON.parse(texts[0] ?? '{}'), tooLong);
    expect(texts[1]).toBe('{"data":{"essayOrder":{"texts":[]}}}');
    expect(written).toBeLessThan(1.2 * maxBytes);
  });
});
