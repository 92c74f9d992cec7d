import { once } from 'node:events';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { tFreePort, tHttpServer } from './loopback.ts';
import { tGate, turns } from './turns.ts';

export interface UpstreamCall {
  method: string;
  path: string;
  query: URLSearchParams;
  headers: IncomingHttpHeaders;
  body: string;
  /** Resolves if the client closes the connection before the whole reply is sent. */
  aborted: Promise<void>;
}

export type Reply = (response: ServerResponse, call: UpstreamCall) => void | Promise<void>;

export interface Upstream {
  url: string;
  /** Every call, in the order of arrival. */
  calls: UpstreamCall[];
  /** The largest number of calls that were in flight at the same time. */
  mostInFlight: number;
  /** From now on, every call gets this reply. */
  answers(reply: Reply): void;
  /** The next call to arrive. */
  nextCall(): Promise<UpstreamCall>;
  /** Closes all connections and refuses new ones. */
  stop(): Promise<void>;
  /** Listens at the same address again. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

/** A scripted REST service on a free loopback port that records every call. It stops when the test ends. */
export async function tUpstream(firstReply: Reply = replyJson(200, {})): Promise<Upstream> {
  let reply = firstReply;
  let inFlight = 0;
  const waiting: ((call: UpstreamCall) => void)[] = [];
  const { server, url: ownUrl } = await tHttpServer(async (request, response) => {
    inFlight += 1;
    upstream.mostInFlight = Math.max(upstream.mostInFlight, inFlight);
    const aborted = new Promise<void>((resolve) => {
      response.on('close', () => {
        inFlight -= 1;
        if (!response.writableFinished) resolve();
      });
    });
    const chunks = await request.toArray();
    const url = new URL(request.url ?? '/', 'http://upstream');
    const call: UpstreamCall = {
      method: request.method ?? '',
      path: url.pathname,
      query: url.searchParams,
      headers: request.headers,
      body: Buffer.concat(chunks).toString(),
      aborted,
    };
    upstream.calls.push(call);
    waiting.splice(0).map((resolve) => resolve(call));
    await reply(response, call);
  });
  const stop = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  const upstream: Upstream = {
    url: ownUrl,
    calls: [],
    mostInFlight: 0,
    answers: (next) => {
      reply = next;
    },
    nextCall: () => new Promise((resolve) => waiting.push(resolve)),
    stop,
    restart: async () => {
      server.listen(Number(new URL(ownUrl).port), '127.0.0.1');
      await once(server, 'listening');
    },
    close: stop,
  };
  return upstream;
}

export function replyJson(status: number, body: unknown, headers: Record<string, string> = {}): Reply {
  return replyText(status, JSON.stringify(body), { 'content-type': 'application/json', ...headers });
}

export function replyText(status: number, text: string, headers: Record<string, string> = {}): Reply {
  return (response) => {
    response.writeHead(status, headers).end(text);
  };
}

/** Sends the beginning of a longer answer, then closes the connection. */
export function replyTruncated(text: string): Reply {
  return (response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': text.length + 100 });
    response.write(text, () => response.destroy());
  };
}

/** Sends the beginning of a longer answer, and no more. */
export function replyStuck(text: string): Reply {
  return async (response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': text.length + 100 });
    await new Promise((resolve) => response.write(text, resolve));
    // After a few turns, the other end of a loopback connection has read what was written.
    await turns(5);
  };
}

/** Sends the beginning of a longer answer, then a TCP reset, as a crash or a firewall does. */
export function replyResetInBody(text: string): Reply {
  return async (response, call) => {
    await replyStuck(text)(response, call);
    response.socket?.resetAndDestroy();
  };
}

/** Sends a TCP reset before any answer. */
export const replyResetBeforeHeaders: Reply = (response) => {
  response.socket?.resetAndDestroy();
};

/** Closes the connection before any answer, in order. */
export const replyClosed: Reply = (response) => {
  response.destroy();
};

/** Sends this reply only after `release`. */
export function replyHeld(reply: Reply): { reply: Reply; release: () => void } {
  const gate = tGate();
  return {
    release: gate.open,
    reply: async (response, call) => {
      await gate.opened;
      await reply(response, call);
    },
  };
}

/** Replies when `size` calls wait, and at the end, so that more calls in flight would be detected. */
export function replyInWaves(size: number, total: number, reply: Reply): Reply {
  const held: (() => void)[] = [];
  let arrived = 0;
  return async (response, call) => {
    arrived += 1;
    const released = new Promise<void>((resolve) => held.push(resolve));
    if (held.length === size || arrived === total) for (const release of held.splice(0).reverse()) release();
    await released;
    await reply(response, call);
  };
}

/** Says that the IBAN of the call is valid. */
export const replyWithIban: Reply = (response, call) =>
  replyJson(200, { valid: true, iban: call.query.get('iban_number') })(response, call);

/** Replies with 404 for this IBAN. */
export function replyFailingFor(iban: string, reply: Reply): Reply {
  return (response, call) => (call.query.get('iban_number') === iban ? replyJson(404, {}) : reply)(response, call);
}

/** Never answers. */
export const replyNever: Reply = () => {};

/** A loopback URL where nothing listens. */
export async function tUnusedUrl(): Promise<string> {
  return `http://127.0.0.1:${await tFreePort()}`;
}
