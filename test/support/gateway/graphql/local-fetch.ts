import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { Readable } from 'node:stream';
import type { Caller } from '../../../../src/gateway/callers/caller.ts';
import type { AnswerGraphql } from '../../../../src/gateway/graphql/request/params.ts';
import { chooseMediaType } from '../../../../src/gateway/graphql/request/reply.ts';
import type { ResultStream } from '../../../../src/gateway/graphql/request/stream-formats.ts';

/** Answers requests of a caller without the HTTP request handler. */
export function tFetch(answer: AnswerGraphql, caller: Caller) {
  return async (url: string, init: RequestInit): Promise<Response> => {
    const fetched = new Request(url, init);
    const { method, signal } = fetched;
    // Every look-up of a request listens to this signal; Node.js reports more than ten listeners as a leak.
    setMaxListeners(0, signal);
    const headers = Object.fromEntries(fetched.headers);
    const mediaType = chooseMediaType(headers.accept);
    const reply = await answer(
      {
        method,
        search: new URL(url).search.slice(1),
        body: await fetched.text(),
        headers,
        mediaType: mediaType ?? 'application/json',
        isStreamOnly: mediaType === null,
        requestId: randomUUID(),
        signal,
        trace: null,
        confirmCaller: async () => true,
      },
      caller,
    );
    signal.throwIfAborted();
    const { status, stream } = reply;
    const body = typeof reply.body === 'string' ? reply.body : Buffer.concat(reply.body);
    const type = stream?.format.contentType ?? `${reply.mediaType}; charset=utf-8`;
    const content = stream ? Readable.toWeb(Readable.from(streamText(stream), { objectMode: false })) : body;
    return new Response(content as BodyInit, { status, headers: { ...reply.headers, 'content-type': type } });
  };
}

/** The whole text of a stream, in pieces, without heartbeats. */
async function* streamText({ format, results }: ResultStream): AsyncGenerator<string> {
  yield format.begin;
  for await (const json of results) yield format.result(json);
  yield format.end;
}
