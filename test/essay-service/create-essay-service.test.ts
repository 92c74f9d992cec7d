import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { apiKey, body, orderHead, tService } from '../support/essay-service/service.ts';
import { tGate } from '../support/turns.ts';

describe('an order', () => {
  it('is answered with the text, its number of words and what wrote it', async () => {
    const { post, orders } = tService();
    const answer = await post({ ...body, extra: true });
    expect(answer.statusCode).toBe(200);
    expect(answer.json()).toEqual({ essay: 'Bees are  insects.', word_count: 3, writer: 'model' });
    expect(orders).toEqual([{ description: 'bees', mode: 'Standard', wordCount: 100 }]);
    expect(Object.keys(answer.headers).filter((name) => name.startsWith('x-ratelimit'))).toEqual([]);
  });

  it('may omit the slash at the end', async () => {
    const request = { method: 'POST', url: '/v2/generate/essay', headers: { token: apiKey }, payload: body } as const;
    expect((await tService().app.inject(request)).statusCode).toBe(200);
  });

  it.each([
    ['standard', 'Standard'],
    ['ACADEMIC', 'Academic'],
    ['Professional', 'Professional'],
    ['journalistic', 'Journalistic'],
    ['detailed', 'Detailed'],
  ])('may write its mode as %s', async (mode, known) => {
    const { post, orders } = tService();
    await post({ ...body, mode });
    expect(orders[0]?.mode).toBe(known);
  });

  it.each([
    ['1 word', { word_count: 1 }],
    ['2,000 words', { word_count: 2_000 }],
    ['a description of 10,000 characters', { description: '\u0001'.repeat(5_000) + 'a'.repeat(5_000) }],
  ])('may have %s', async (_, fields) => {
    expect((await tService().post({ ...body, ...fields })).statusCode).toBe(200);
  });
});

describe('a failed order', () => {
  const answer = () => Promise.reject(new Error('the secret reason'));

  it('is answered without its reason, which is logged', async () => {
    const { post, lines } = tService({ answer });
    const failed = await post(body);
    expect(failed.statusCode).toBe(500);
    expect(failed.json()).toEqual({ error: 'The essay could not be written. Try again.' });
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain('the secret reason');
    for (const hidden of [apiKey, body.description]) expect(lines[0]).not.toContain(hidden);
  });

  it('does not use up the allowance', async () => {
    const { post } = tService({ answer, monthlyAllowance: 1 });
    for (let call = 0; call < 3; call += 1) {
      const failed = await post(body);
      expect(failed.statusCode).toBe(500);
      expect(failed.headers['x-ratelimit-remaining-month']).toBe('1');
    }
  });
});

describe('the allowance', () => {
  it('counts written essays and rejects orders over the limit', async () => {
    const { post, orders } = tService({ monthlyAllowance: 2 });
    const first = { 'x-ratelimit-limit-month': '2', 'x-ratelimit-remaining-month': '1' };
    expect((await post(body)).headers).toMatchObject(first);
    await post({ ...body, word_count: 0 });
    await post(body, { token: 'wrong' });
    expect((await post(body)).headers['x-ratelimit-remaining-month']).toBe('0');
    const refused = await post(body);
    expect(refused.statusCode).toBe(429);
    expect(refused.json().error).toBe("This month's allowance is used up. It renews at 2025-03-01T00:00:00Z.");
    expect(refused.headers).toMatchObject({ ...first, 'retry-after': '3600', 'x-ratelimit-remaining-month': '0' });
    expect(orders).toHaveLength(2);
  });

  it('is not shown to callers without the key', async () => {
    const answer = await tService({ monthlyAllowance: 2 }).post(body, { token: 'wrong' });
    expect(Object.keys(answer.headers).filter((name) => name.startsWith('x-ratelimit'))).toEqual([]);
  });

  it('is not exceeded by concurrent orders', async () => {
    const { post, orders } = tService({ monthlyAllowance: 3 });
    const answers = await Promise.all(Array.from({ length: 10 }, () => post(body)));
    expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([200, 200, 200, ...Array(7).fill(429)]);
    expect(orders).toHaveLength(3);
  });

  it('may be zero', async () => {
    const { post, orders } = tService({ monthlyAllowance: 0 });
    expect((await post(body)).statusCode).toBe(429);
    expect(orders).toEqual([]);
  });
});

describe('a caller that disconnects', () => {
  it('stops the writer, does not use up the allowance and is not logged', async () => {
    const signals: AbortSignal[] = [];
    const [started, stopped] = [tGate(), tGate()];
    const { connect, post, lines } = tService({
      monthlyAllowance: 1,
      answer: async (signal) => {
        signals.push(signal);
        if (signals.length > 1) return 'Written.';
        started.open();
        await once(signal, 'abort').then(stopped.open);
        throw signal.reason;
      },
    });
    const caller = await connect();
    const payload = JSON.stringify(body);
    caller.write(orderHead(apiKey, payload.length) + payload);
    await started.opened;
    expect(signals[0]?.aborted).toBe(false);
    caller.destroy();
    await stopped.opened;
    expect((await post(body)).statusCode).toBe(200);
    expect(lines).toEqual([]);
  });

  it('is not confused with one that has only sent its body', async () => {
    const { listen } = tService({
      answer: async (signal) => {
        await new Promise((resolve) => setImmediate(resolve));
        return String(signal.aborted);
      },
    });
    const headers = { token: apiKey, 'content-type': 'application/json' };
    const options = { method: 'POST', headers, body: JSON.stringify(body) };
    const answer = await fetch(`${await listen()}/v2/generate/essay/`, options);
    expect(await answer.json()).toEqual({ essay: 'false', word_count: 1, writer: 'model' });
  });
});
