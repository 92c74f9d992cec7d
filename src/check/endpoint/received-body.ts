import type { Readable } from 'node:stream';

interface ReceiveOptions {
  maxBytes: number;
  clientTimeoutMs: number;
  /** Whether a client sends so many small chunks that they cost more than their bytes. */
  isFragmented: (chunks: number, bytes: number) => boolean;
  /** Resolves when more can be received. */
  onChunk(chunk: Buffer): Promise<void>;
  /** Called once, with what is wrong if the body is not complete; what follows is read and discarded, if there is any. */
  onEnd(problem: BodyProblem | null): void;
}

export type BodyProblem = 'cut-off' | 'too-large' | 'fragmented';

/**
 * Receives the body of a request, at most twice `maxBytes`: many clients do not see a response before they have sent all. A client that
 * sends nothing for `clientTimeoutMs`, while more is expected, or less than a kilobyte a second, is disconnected.
 */
export async function receiveBody(request: Readable, options: ReceiveOptions): Promise<void> {
  const { maxBytes, clientTimeoutMs, isFragmented, onChunk, onEnd } = options;
  const iterator = request.iterator({ destroyOnReturn: false });
  const patience = new Patience(clientTimeoutMs);
  let problem: BodyProblem | null = null;
  let length = 0;
  let count = 0;
  const disconnect = () => request.destroy();
  const next = async () => {
    const timer = setTimeout(disconnect, clientTimeoutMs);
    return patience.wait(iterator.next(), length, disconnect).finally(() => clearTimeout(timer));
  };

  try {
    for (let chunk = await next(); !chunk.done; chunk = await next()) {
      length += chunk.value.length;
      count += 1;
      const found = length > maxBytes ? 'too-large' : isFragmented(count, length) ? 'fragmented' : null;
      if (found === null) await onChunk(chunk.value);
      else if (problem === null) onEnd(found);
      problem ??= found;
      if (found === 'fragmented' || length > 2 * maxBytes) break;
    }
    await iterator.return?.();
    if (problem === null) onEnd(null);
  } catch {
    if (problem === null) onEnd('cut-off');
  }
}

/** How long a client is waited for in total: `timeoutMs`, and a second for each kilobyte that it has sent or was sent. */
export class Patience {
  readonly #timeoutMs: number;
  #waitedMs = 0;

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  async wait<Result>(result: Promise<Result>, bytes: number, onSlow: () => void): Promise<Result> {
    const startedAt = performance.now();
    const timer = setTimeout(onSlow, this.#timeoutMs + bytes / minBytesPerMs - this.#waitedMs);
    try {
      return await result;
    } finally {
      clearTimeout(timer);
      this.#waitedMs += performance.now() - startedAt;
    }
  }
}

const minBytesPerMs = 1;
