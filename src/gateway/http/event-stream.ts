import type { ServerResponse } from 'node:http';
import type { ResultStream } from '../graphql/request/stream-formats.ts';
import type { Exchange } from './exchange.ts';
import type { IncomingRequest } from './incoming-request.ts';
import type { Share, Shares } from './shares.ts';

export interface StreamLimits {
  /** How long a client may read nothing of a stream. */
  clientTimeoutMs: number;
  /** How often a stream without results gets a heartbeat. */
  heartbeatMs: number;
  /** Counts what clients have not read. */
  buffered: Shares;
}

/**
 * Writes the results of a subscription as they come. The next one is requested when the client has read the one before, so that a
 * slow client holds one at most; one that reads nothing for `clientTimeoutMs` is disconnected.
 */
export async function sendStream(
  exchange: Exchange,
  stream: ResultStream,
  headers: readonly string[],
  { clientTimeoutMs, heartbeatMs, buffered }: StreamLimits,
): Promise<void> {
  const { response, responseHeaders, signal } = exchange;
  // A proxy would collect results until its buffer is full.
  responseHeaders.push(...headers, 'x-accel-buffering', 'no');
  response.writeHead(200, responseHeaders);
  // The log and the metrics show when a stream begins: how long it lasts says nothing about the gateway.
  exchange.finish(200);
  const { format, results } = stream;
  response.on('timeout', () => response.destroy());
  const beat = setInterval(() => response.writableNeedDrain || response.write(format.heartbeat), heartbeatMs);
  try {
    response.write(format.begin);
    for await (const json of results) {
      if (signal.aborted || response.destroyed) return;
      if (response.write(format.result(json))) continue;
      const unread = takeUnread(buffered, response);
      response.setTimeout(clientTimeoutMs);
      await untilRead(response);
      response.setTimeout(0);
      unread.release();
    }
    response.end(format.end);
  } finally {
    clearInterval(beat);
    if (!response.writableEnded) response.destroy();
  }
}

/** Counts what a client has not read of a response, until it is released. If the share is lost, the connection is closed. */
export function takeUnread(buffered: Shares, response: ServerResponse<IncomingRequest>): Share {
  const holder = response.req.share?.holder ?? '';
  const unread = buffered.take({ holder, onLost: () => response.destroy() });
  unread.add(response.writableLength);
  return unread;
}

/** Resolves when the client has read what was written, or has disconnected. */
export function untilRead(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      response.off('drain', end).off('close', end);
      resolve();
    };
    if (response.destroyed) resolve();
    else response.on('drain', end).on('close', end);
  });
}
