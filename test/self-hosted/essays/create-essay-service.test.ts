import { describe, expect, it } from 'vitest';
import { apiKey, body, tService } from '../../support/self-hosted/essays/service.ts';

describe('an order', () => {
  it('is answered with the text and its number of words', async () => {
    const { post, orders } = tService();
    const answer = await post({ ...body, extra: true });
    expect(answer.statusCode).toBe(200);
    expect(answer.json()).toEqual({ essay: 'Bees are  insects.', word_count: 3 });
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
  ])('may write its mode as %s', async (mode, known) => {
    const { post, orders } = tService();
    await post({ ...body, mode });
    expect(orders[0]?.mode).toBe(known);
  });

  it.each([1, 2000])('may require %i words', async (wordCount) => {
    expect((await tService().post({ ...body, word_count: wordCount })).statusCode).toBe(200);
  });

  it('may have a description of 10,000 characters', async () => {
    const description = '\u0001'.repeat(5_000) + 'a'.repeat(5_000);
    expect((await tService().post({ ...body, description })).statusCode).toBe(200);
  });
});

describe('a failed order', () => {
  const answer = async () => {
    throw new Error('the secret reason');
  };

  it('is answered without its reason, which is logged', async () => {
    const { post, lines } = tService({ answer });
    const failed = await post(body);
    expect(failed.statusCode).toBe(500);
    expect(failed.json()).toEqual({ error: 'The essay could not be written. Try again.' });
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain('the secret reason');
    expect(lines.join()).not.toContain(apiKey);
    expect(lines.join()).not.toContain(body.description);
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
    expect((await post(body)).headers).toMatchObject({
      'x-ratelimit-limit-month': '2',
      'x-ratelimit-remaining-month': '1',
    });
    await post({ ...body, word_count: 0 });
    await post(body, { token: 'wrong' });
    expect((await post(body)).headers['x-ratelimit-remaining-month']).toBe('0');
    const refused = await post(body);
    expect(refused.statusCode).toBe(429);
    expect(refused.json()).toEqual({
      error: "This month's allowance is used up. It renews at 2025-03-01T00:00:00Z.",
    });
    expect(refused.headers).toMatchObject({
      'retry-after': '3600',
      'x-ratelimit-limit-month': '2',
      'x-ratelimit-remaining-month': '0',
    });
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
