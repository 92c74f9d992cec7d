import type { Outcome, Send } from './operation.ts';

/** A path that answered 429 with `Retry-After`. */
interface Block {
  retryAt: Date;
  /** In milliseconds since 1970. */
  probeAt: number;
  isProbing: boolean;
}

/**
 * Does not call a path that answered 429 before its `Retry-After`. A date that is further away than an hour may be
 * wrong, so one call per hour checks it. Outside the circuit breaker: a blocked call is neither a success nor a failure.
 */
export function withRetryAfter(send: Send): Send {
  const blocks = new Map<string, Block>();

  return async (request, deadline) => {
    const { path } = request;
    const block = blocks.get(path);
    if (!block || Date.now() >= block.retryAt.getTime()) return record(path, await send(request, deadline));
    if (block.isProbing || Date.now() < block.probeAt) return { kind: 'exhausted', renewsAt: block.retryAt };
    block.isProbing = true;
    try {
      const outcome = await send(request, deadline);
      // Only the probe ends the block: other calls were sent before it began.
      if (outcome.kind === 'answered') blocks.delete(path);
      return record(path, outcome, block.retryAt);
    } finally {
      block.isProbing = false;
    }
  };

  function record(path: string, outcome: Outcome, defaultRetryAt: Date | null = null): Outcome {
    if (outcome.kind !== 'answered' || outcome.status !== 429) return outcome;
    const retryAt = outcome.retryAt ?? defaultRetryAt;
    if (retryAt) blocks.set(path, { retryAt, probeAt: Date.now() + probeIntervalMs, isProbing: false });
    return outcome;
  }
}

const probeIntervalMs = 3_600_000;
