import { describe, expect, it, vi } from 'vitest';
import type { IbanItem } from '../../examples/web/src/gql/graphql.ts';
import { type ChunksOutcome, checkInChunks } from '../../examples/web/src/state/check-in-chunks.ts';
import type { IbanAnswer, IbanClient } from '../../examples/web/src/state/iban-client.ts';

type Reply = Awaited<ReturnType<IbanClient['check']>>;

const failure = { message: 'The look-up failed.', isRetryable: true };
const allOf = (items: readonly IbanItem[]): Reply => ({
  value: new Map(items.map(({ reference }): [string, IbanAnswer] => [reference ?? '', { failure }])),
});

/** Starts a check of ten IBANs, two a request; each request waits for its reply. */
function start() {
  const sent: { ibans: string[]; reply(reply?: Reply): Promise<void> }[] = [];
  const controller = new AbortController();
  const onAnswers = vi.fn<(answers: ReadonlyMap<string, IbanAnswer>) => void>();
  const outcome: Promise<ChunksOutcome> = checkInChunks({
    items: Array.from({ length: 10 }, (_, index) => ({ iban: `iban ${index}`, reference: `row ${index}` })),
    size: 2,
    check: (items) =>
      new Promise((resolve) => {
        sent.push({
          ibans: items.map(({ iban }) => iban),
          async reply(reply = allOf(items)) {
            resolve(reply);
            for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();
          },
        });
      }),
    onAnswers,
    signal: controller.signal,
  });
  return { sent, outcome, onAnswers, cancel: () => controller.abort() };
}

describe('a list in chunks', () => {
  it('is sent three requests at a time, and answered by IBAN', async () => {
    const { sent, outcome, onAnswers } = start();
    expect(sent.map(({ ibans }) => ibans)).toEqual([
      ['iban 0', 'iban 1'],
      ['iban 2', 'iban 3'],
      ['iban 4', 'iban 5'],
    ]);
    await sent[1]?.reply();
    expect(sent).toHaveLength(4);
    expect([...(onAnswers.mock.calls[0]?.[0].keys() ?? [])]).toEqual(['iban 2', 'iban 3']);
    for (const index of [0, 2, 3, 4]) await sent[index]?.reply();
    expect(await outcome).toEqual({ chunks: 5, failures: [] });
  });

  it('continues after a failure that may pass', async () => {
    const { sent, outcome, onAnswers } = start();
    await sent[0]?.reply({ failure });
    expect(onAnswers.mock.calls[0]?.[0].get('iban 1')).toEqual({ failure });
    for (const index of [1, 2, 3, 4]) await sent[index]?.reply();
    expect(await outcome).toEqual({ chunks: 5, failures: [failure] });
  });

  it('ends after a failure that all others would repeat', async () => {
    const { sent, outcome } = start();
    const refusal = { message: 'The budget is used up.', isRetryable: false };
    await sent[0]?.reply({ failure: refusal });
    for (const index of [1, 2]) await sent[index]?.reply();
    expect(await outcome).toEqual({ chunks: 5, failures: [refusal] });
    expect(sent).toHaveLength(3);
  });

  it('reports nothing after it was cancelled', async () => {
    const { sent, outcome, onAnswers, cancel } = start();
    cancel();
    for (const index of [0, 1, 2]) await sent[index]?.reply();
    expect(await outcome).toEqual({ chunks: 5, failures: [] });
    expect(sent).toHaveLength(3);
    expect(onAnswers).not.toHaveBeenCalled();
  });
});
