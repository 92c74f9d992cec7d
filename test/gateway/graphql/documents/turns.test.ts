import { describe, expect, it, vi } from 'vitest';
import { createPreparationTurns } from '../../../../src/gateway/graphql/documents/documents.ts';
import { tCaller } from '../../../support/caller.ts';
import { tGateway } from '../../../support/gateway.ts';
import { turns as nextTurns } from '../../../support/turns.ts';

/** Documents that take as long as they say, beside requests with known ones. */
function tTurns() {
  let now = 1_000;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  const turns = createPreparationTurns();
  const prepared: string[] = [];
  const begin = (name: string, ms: number) => {
    turns.begin();
    now += ms;
    prepared.push(name);
  };
  return {
    turns,
    prepared,
    prepare(name: string, ms: number) {
      if (turns.areFull()) void turns.wait(() => begin(name, ms));
      else begin(name, ms);
    },
  };
}

describe('turns of documents that are not known', () => {
  it('prepare a document in every second one beside requests with known ones, in the order of arrival', async () => {
    const { turns, prepared, prepare } = tTurns();
    turns.countKnown();
    for (const name of ['a', 'b', 'c']) prepare(name, 0.1);
    const preparedByTurn: string[] = [];
    for (let turn = 0; turn < 6; turn += 1) {
      preparedByTurn.push(prepared.splice(0).join());
      turns.countKnown();
      await nextTurns(1);
    }
    expect(preparedByTurn).toEqual(['a', '', 'b', '', 'c', '']);
    expect(turns.areFull()).toBe(false);
  });

  it('make a document wait that arrives right after another one', async () => {
    const { turns, prepared, prepare } = tTurns();
    turns.countKnown();
    prepare('a', 0.1);
    await nextTurns(1);
    prepare('b', 0.1);
    expect(prepared).toEqual(['a']);
    await nextTurns(1);
    expect(prepared).toEqual(['a', 'b']);
  });

  it('prepare several without requests with known ones, for a millisecond', async () => {
    const { prepared, prepare } = tTurns();
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) prepare(name, 0.4);
    expect(prepared).toEqual(['a', 'b', 'c']);
    await nextTurns(1);
    expect(prepared).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
  });

  it('do not let a later document overtake those that wait', async () => {
    const { turns, prepared, prepare } = tTurns();
    turns.countKnown();
    for (const name of ['a', 'b', 'c']) prepare(name, 0.1);
    await nextTurns(1);
    prepare('d', 0.1);
    await nextTurns(4);
    expect(prepared).toEqual(['a', 'b', 'c', 'd']);
  });

  it('go to the next document if one is known by now, or its client has left', async () => {
    const { turns, prepared, prepare } = tTurns();
    turns.countKnown();
    prepare('a', 0.1);
    let hasLeft = false;
    void turns.wait(() => {
      hasLeft = true;
    });
    prepare('b', 0.1);
    await nextTurns(2);
    expect({ hasLeft, prepared }).toEqual({ hasLeft: true, prepared: ['a', 'b'] });
  });
});

const known = 'query K { country(code: "DE") { name } }';

/** Sends queries to a gateway. The reply to `known` is kept. */
async function tSend() {
  const { graphql } = tGateway();
  const send = async (query: string, { signal } = new AbortController()) => {
    const body = JSON.stringify({ query });
    return graphql.answer(
      {
        method: 'POST',
        body,
        search: '',
        headers: {},
        mediaType: 'application/json',
        requestId: 'id',
        signal,
        trace: null,
        isStreamOnly: false,
        confirmCaller: async () => true,
      },
      tCaller,
    );
  };
  for (let time = 0; time < 3; time += 1) await send(known);
  await nextTurns(1);
  return { send, caches: graphql.caches };
}

describe('many new documents at once', () => {
  it('are all answered, valid or not, and a known one before them', async () => {
    const { send } = await tSend();
    const aborted = new AbortController();
    const isValid = (index: number) => index % 3 > 0;
    const document = (index: number) => `{ a${index}: country(code: "DE") { ${isValid(index) ? 'code' : 'none'} } }`;
    const unknown = Array.from({ length: 20 }, (_, index) => send(document(index)));
    const left = send(document(20), aborted);
    let answered = 0;
    for (const reply of unknown) void reply.then(() => (answered += 1));
    await send(known);
    expect(answered).toBeLessThan(3);
    aborted.abort();
    for (const [index, reply] of (await Promise.all(unknown)).entries()) {
      expect(reply?.status).toBe(200);
      if (isValid(index)) expect(reply?.body).toBe(`{"data":{"a${index}":{"code":"DE"}}}`);
      else expect(reply?.body).toContain('GRAPHQL_VALIDATION_FAILED');
    }
    expect((await left)?.status).toBe(499);
  });

  it('are prepared in every second turn beside replies that were kept, too', async () => {
    const { send, caches } = await tSend();
    expect(caches().replies.entries).toBe(1);
    // No turn is over because of its time.
    vi.spyOn(performance, 'now').mockReturnValue(performance.now());
    let answered = 0;
    for (let index = 0; index < 10; index += 1) {
      void send(`{ a${index}: country(code: "DE") { code } }`).then(() => (answered += 1));
    }
    for (let turn = 1; turn <= 10; turn += 1) {
      await send(known);
      expect(answered).toBeLessThanOrEqual((turn + 1) / 2);
      await nextTurns(1);
    }
    expect(answered).toBeGreaterThan(3);
  });
});
