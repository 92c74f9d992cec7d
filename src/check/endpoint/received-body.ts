import type { Readable } from 'node:stream';
import { PaymentFileError } from '../open-file.ts';

interface ReceivedBodyOptions {
  maxBytes: number;
  clientTimeoutMs: number;
  /** Whether a client sends so many small chunks that they cost more than their bytes. */
  isFragmented: (chunks: number, bytes: number) => boolean;
}

/** The body of a request, which is read while the response is sent. */
export interface ReceivedBody {
  /** Can be read once. @throws PaymentFileError if it is too large, or ends early */
  chunks(): AsyncGenerator<Buffer>;
  /**
   * Waits, and reads on meanwhile: many clients read nothing of a response before they have sent all. What is read is kept in
   * memory, at most `maxBytes`.
   */
  readAheadUntil(isDrained: Promise<unknown>): Promise<void>;
  /** Reads what is left, at most `maxBytes`. Many clients do not see a response that ends before they have sent all. */
  discardRest(): Promise<void>;
  isTooLarge(): boolean;
}

/** A client that sends nothing for `clientTimeoutMs`, while more is expected, or less than a kilobyte a second, is disconnected. */
export function createReceivedBody(
  request: Readable,
  { maxBytes, clientTimeoutMs, isFragmented }: ReceivedBodyOptions,
): ReceivedBody {
  const iterator = request.iterator({ destroyOnReturn: false });
  const ahead: Buffer[] = [];
  let reading: Promise<void> | null = null;
  let end: 'complete' | Error | null = null;
  /** Whether nothing more is read. */
  let isOver = false;
  let isDiscarding = false;
  let isTooLarge = false;
  let length = 0;
  let count = 0;
  const patience = new Patience(clientTimeoutMs);

  return {
    async *chunks() {
      for (;;) {
        const chunk = ahead.shift();
        if (chunk !== undefined) yield chunk;
        else if (end === null) await readNext();
        else if (end === 'complete') return;
        else throw end;
      }
    },
    async discardRest() {
      isDiscarding = true;
      ahead.length = 0;
      while (!isOver) await readNext();
    },
    async readAheadUntil(isDrained) {
      let isWaiting = true;
      const drained = isDrained.finally(() => {
        isWaiting = false;
      });
      while (isWaiting && end === null) await Promise.race([readNext(), drained]);
      await drained;
    },
    isTooLarge: () => isTooLarge,
  };

  function readNext(): Promise<void> {
    reading ??= read().finally(() => {
      reading = null;
    });
    return reading;
  }

  async function read(): Promise<void> {
    const timer = setTimeout(() => request.destroy(), clientTimeoutMs);
    try {
      const { value, done } = await patience.wait(iterator.next(), length, () => request.destroy());
      if (!done) return isDiscarding ? discard(value) : add(value);
      isOver = true;
      end ??= 'complete';
    } catch {
      isOver = true;
      end ??= new PaymentFileError('the request body ends before its end');
    } finally {
      clearTimeout(timer);
    }
  }

  function discard(chunk: Buffer): void {
    length += chunk.length;
    count += 1;
    isOver = length > 2 * maxBytes || isFragmented(count, length);
  }

  function add(chunk: Buffer): void {
    length += chunk.length;
    count += 1;
    isTooLarge = length > maxBytes;
    if (isTooLarge)
      end = new PaymentFileError(`the request body must have at most ${maxBytes} bytes (CHECK_MAX_BYTES)`);
    else if (isFragmented(count, length)) end = new PaymentFileError('the request body has too many small chunks');
    else ahead.push(chunk);
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
