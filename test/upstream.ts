import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

export interface UpstreamCall {
  method: string;
  path: string;
  query: URLSearchParams;
  headers: IncomingHttpHeaders;
  body: string;
  /** Whether the caller closed the connection before it was answered. */
  aborted: Promise<void>;
}

export type Reply = (response: ServerResponse, call: UpstreamCall) => void | Promise<void>;

export interface Upstream {
  url: string;
  /** Every call, in the order of arrival. */
  calls: UpstreamCall[];
  /** Most calls that were in flight at one time. */
  mostInFlight: number;
  /** From now on, every call is answered so. */
  answers(reply: Reply): void;
  /** The next call to arrive. */
  nextCall(): Promise<UpstreamCall>;
  close(): Promise<void>;
}

/** A scripted REST service on a free loopback port that records every call; gone when the test is. */
export async function tUpstream(firstReply: Reply = replyJson(200, {})): Promise<Upstream> {
  let reply = firstReply;
  let inFlight = 0;
  const waiting: ((call: UpstreamCall) => void)[] = [];
  const server = createServer(async (request, response) => {
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
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const upstream: Upstream = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls: [],
    mostInFlight: 0,
    answers: (next) => {
      reply = next;
    },
    nextCall: () => new Promise((resolve) => waiting.push(resolve)),
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  onTestFinished(() => upstream.close());
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

/** Sends this much of a longer answer and breaks the connection. */
export function replyTruncated(text: string): Reply {
  return (response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': text.length + 100 });
    response.write(text, () => response.destroy());
  };
}

/** Breaks the connection before any answer. */
export const replyReset: Reply = (response) => {
  response.destroy();
};

/** Holds an answer back until it is told to let go. */
export function replyWhenTold(reply: Reply): { reply: Reply; tell: () => void } {
  let tell = () => {};
  const told = new Promise<void>((resolve) => {
    tell = resolve;
  });
  return {
    tell: () => tell(),
    reply: async (response, call) => {
      await told;
      await reply(response, call);
    },
  };
}

/** Never answers. */
export const replyNever: Reply = () => {};

/** A loopback address at which nothing listens. */
export async function tNowhere(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return `http://127.0.0.1:${port}`;
}
