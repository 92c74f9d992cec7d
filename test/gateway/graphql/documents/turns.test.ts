import { describe, expect, it, vi } from 'vitest';
import { tCaller } from '../../../support/gateway/callers.ts';
import { tGateway } from '../../../support/gateway.ts';
import { turns } from '../../../support/turns.ts';

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
  await turns(1);
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

  it('are prepared in every second turn beside replies that were kept, in the order of their arrival', async () => {
    const { send, caches } = await tSend();
    expect(caches().replies.entries).toBe(1);
    // No turn is over because of its time.
    vi.spyOn(performance, 'now').mockReturnValue(performance.now());
    const answered: number[] = [];
    for (let index = 0; index < 10; index += 1) {
      void send(`{ a${index}: country(code: "DE") { code } }`).then(() => answered.push(index));
    }
    for (let turn = 1; turn <= 10; turn += 1) {
      await send(known);
      expect(answered.length).toBeLessThanOrEqual((turn + 1) / 2);
      await turns(1);
    }
    expect(answered.length).toBeGreaterThan(3);
    expect(answered).toEqual([...answered.keys()]);
  });
});
