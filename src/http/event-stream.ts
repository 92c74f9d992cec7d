import { once } from 'node:events';
import { type ResultStream, streamText } from '../graphql/request/stream-formats.ts';
import type { Exchange } from './exchange.ts';

export interface StreamLimits {
  /** How long a client may read nothing of a stream. */
  clientTimeoutMs: number;
  /** How often a stream without results gets a heartbeat. */
  heartbeatMs: number;
}

/**
 * Writes the results of a subscription as they come. The next one is requested when the client has read the one before, so that a
 * slow client holds one at most; one that reads nothing for `clientTimeoutMs` is disconnected.
 */
export async function sendStream(
  exchange: Exchange,
  stream: ResultStream,
  headers: readonly string[],
  { clientTimeoutMs, heartbeatMs }: StreamLimits,
): Promise<void> {
  const { response, responseHeaders, signal } = exchange;
  // A proxy would collect results until its buffer is full.
  responseHeaders.push(...headers, 'x-accel-buffering', 'no');
  response.writeHead(200, responseHeaders);
  // The log and the metrics show when a stream begins: how long it lasts says nothing about the gateway.
  exchange.finish(200);
  const beat = setInterval(() => response.writableNeedDrain || response.write(stream.format.heartbeat), heartbeatMs);
  try {
    for await (const text of streamText(stream)) {
      if (signal.aborted) return;
      if (response.write(text)) continue;
      response.setTimeout(clientTimeoutMs, () => response.destroy());
      await Promise.race([once(response, 'drain'), once(response, 'close')]);
      response.setTimeout(0);
    }
    response.end();
  } finally {
    clearInterval(beat);
    if (!response.writableEnded) response.destroy();
  }
}
