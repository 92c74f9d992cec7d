import type { Failure } from '../failure.ts';
import type { IbanItem } from '../gql/graphql.ts';
import type { IbanAnswer, IbanClient } from './iban-client.ts';

interface CheckInChunksOptions {
  items: readonly IbanItem[];
  /** IBANs per request. */
  size: number;
  check: IbanClient['check'];
  /** Called after each request, with the answers by IBAN; not after an abort. */
  onAnswers: (answers: ReadonlyMap<string, IbanAnswer>) => void;
  signal: AbortSignal;
}

export interface ChunksOutcome {
  /** Requests that were due. */
  chunks: number;
  /** Why requests failed. */
  failures: readonly Failure[];
}

/** A gateway limits how many IBANs it looks up at a time: more requests would wait there. */
const chunksAtATime = 3;

/**
 * Sends a list in several requests, a few at a time. A failed one does not stop the others, unless they would fail as well: then the
 * remaining ones are not sent.
 */
export async function checkInChunks(options: CheckInChunksOptions): Promise<ChunksOutcome> {
  const { items, size, check, onAnswers, signal } = options;
  const chunks = Math.ceil(items.length / size);
  const failures: Failure[] = [];
  let next = 0;
  async function sendAll(): Promise<void> {
    while (next < chunks && !signal.aborted) {
      const chunk = items.slice(next * size, (next + 1) * size);
      next += 1;
      const answer = await check(chunk, signal);
      if (signal.aborted) return;
      if ('failure' in answer) {
        failures.push(answer.failure);
        if (!answer.failure.isRetryable) next = chunks;
      }
      onAnswers(new Map(chunk.flatMap((item) => readAnswer(item, answer))));
    }
  }
  await Promise.all(Array.from({ length: chunksAtATime }, sendAll));
  return { chunks, failures };
}

function readAnswer(
  { iban, reference }: IbanItem,
  answer: Awaited<ReturnType<IbanClient['check']>>,
): [string, IbanAnswer][] {
  if ('failure' in answer) return [[iban, answer]];
  const own = answer.value.get(reference ?? '');
  return own ? [[iban, own]] : [];
}
