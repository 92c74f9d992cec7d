import { Agent } from 'node:http';
import { parse } from 'graphql';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { schema } from '../../../src/gateway/graphql/schema/schema.ts';
import {
  createParityRequests,
  hashOf,
  type ParityRequest,
  registered,
} from '../../support/gateway/graphql/parity-requests.ts';
import { tGraphqlServer } from '../../support/gateway/http/graphql-server.ts';
import { type Received, tSend } from '../../support/gateway/http/listening-gateway.ts';
import { tGateway } from '../../support/gateway.ts';
import { replyAsHosted } from '../../support/hosted-bank-data.ts';
import { type Reply, replyJson, replyText, tUpstream } from '../../support/scripted-upstream.ts';
import { turns } from '../../support/turns.ts';

/* An ordinary POST gets the same status, headers and bytes whether the gateway or Yoga reads it. */

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-11-21T12:00:00Z') });
  // Answers stay fresh for a random time.
  vi.spyOn(Math, 'random').mockReturnValue(0.5);
});

const env = {
  STORE_SECRET: 'the-same-in-both-gateways',
  ANONYMOUS_SCOPES: 'bank-data+essays+cost',
  CORS_ORIGINS: 'https://shop.example',
};

describe('an ordinary POST', () => {
  const requests = createParityRequests(schema);

  it(`is answered as if Yoga had read it: ${requests.size} requests`, async () => {
    expect(requests.size).toBeGreaterThan(150);
    // Compiling takes no time, so that every operation is compiled when it comes again.
    vi.useFakeTimers({ toFake: ['Date', 'performance'], now: new Date('2026-11-21T12:00:00Z') });
    const pair = await tPair();
    const register = {
      query: registered,
      extensions: { persistedQuery: { version: 1, sha256Hash: hashOf(registered) } },
    };
    for (const way of pair) await way.post({ body: register }, 0);
    const differences: string[] = [];
    for (const [name, request] of requests) differences.push(...(await compare(name, request, pair)));
    expect(differences).toEqual([]);
  });
});

type Way = Awaited<ReturnType<typeof tPair>>[number];

/** Sends a request four times to both ways: interpreted, registered for compilation, compiled, and possibly kept. */
async function compare(name: string, request: ParityRequest, [direct, yoga]: readonly [Way, Way]): Promise<string[]> {
  const differences: string[] = [];
  for (const [index, spaces] of [0, 1, 2, 2].entries()) {
    const expected = describeReply(await yoga.post(request, spaces));
    const actual = describeReply(await direct.post(request, spaces));
    if (expected !== actual) differences.push(`${name}, ${index}:\n  ${actual}\n  ${expected}`);
    await turns(3);
  }
  return differences;
}

function describeReply({ status, headers: { date: _, ...headers }, body }: Received): string {
  const text = headers['content-encoding'] ? body.toString('base64') : body.toString();
  // Ids of essays are random.
  return `${status} ${JSON.stringify(headers)} ${text.replace(/[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/g, 'UUID')}`;
}

/** Two gateways, with a cache of their own each; the second answers all requests with Yoga. */
async function tPair() {
  const upstream = await tUpstream(replyHealthy);
  const options = { bankDataUrl: upstream.url, essaysUrl: upstream.url, env };
  const direct = tGateway(options);
  const { graphql } = tGateway(options);
  const origin = await tGraphqlServer({ answer: graphql.answerWithYoga });
  const agent = new Agent({ keepAlive: true });
  onTestFinished(() => agent.destroy());
  return [
    tWay(await direct.listen(), (text) => text),
    // Each document is new, so none is compiled. A space at its end changes no result.
    tWay(origin, makeNew),
  ] as const;

  function tWay(origin: string, change: (body: ParityRequest['body']) => ParityRequest['body']) {
    let count = 0;
    return {
      /** @param spaces after the body: replies are kept by its text */
      post({ body, headers }: ParityRequest, spaces: number) {
        count += 1;
        const changed = change(body);
        const text = typeof changed === 'string' ? changed : JSON.stringify(changed);
        return tSend(`${origin}/graphql`, {
          agent,
          method: 'POST',
          headers: { 'content-type': 'application/json', 'x-request-id': `request-${count}`, ...headers },
          body: text + ' '.repeat(spaces),
        });
      },
    };
  }
}

let documents = 0;

function makeNew(body: ParityRequest['body']): ParityRequest['body'] {
  if (typeof body === 'string' || !('query' in body) || typeof body.query !== 'string' || 'extensions' in body)
    return body;
  if (!isParsed(body.query)) return body;
  documents += 1;
  return { ...body, query: `${body.query} #${documents}` };
}

/** In others, a longer document changes errors. */
function isParsed(query: string): boolean {
  try {
    return query.length < 50_000 && parse(query).definitions.length > 0;
  } catch {
    return false;
  }
}

const replyHealthy: Reply = (response, call) => {
  if (call.path !== '/v2/generate/essay/') return replyAsHosted(call)(response, call);
  if (call.body.includes('reject')) return replyJson(422, { detail: 'The description is wrong.' })(response, call);
  if (call.body.includes('fail')) return replyJson(500, {})(response, call);
  if (call.body.includes('garble')) return replyText(200, '{"essay":')(response, call);
  return replyJson(200, { essay: 'Pens hold ink.' })(response, call);
};
