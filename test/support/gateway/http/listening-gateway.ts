import { type Agent, request } from 'node:http';
import type { Environment } from '../../../../src/base/variables/read-variables.ts';
import { tGateway } from '../../gateway.ts';
import { replyJson, tUpstream, type Upstream } from '../../scripted-upstream.ts';

/** A gateway on a free port. By default, its upstream finds every IBAN valid. */
export async function tListeningGateway(env: Environment = {}, given?: Upstream) {
  const upstream = given ?? (await tUpstream(replyJson(200, { valid: true })));
  const gateway = tGateway({ bankDataUrl: upstream.url, essaysUrl: upstream.url, env });
  const origin = await gateway.listen();
  const url = `${origin}/graphql`;
  return {
    ...gateway,
    upstream,
    origin,
    url,
    post: (body: object | string, headers: SendHeaders = {}) =>
      tSend(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
    /** Sends a GET that is executed unless a test removes its header. */
    get: (params: Record<string, string>, headers: SendHeaders = {}) =>
      tSend(`${url}?${new URLSearchParams(params)}`, { headers: { 'graphql-require-preflight': 'true', ...headers } }),
  };
}

export interface Received {
  status: number;
  headers: Record<string, string | undefined>;
  body: Buffer;
  json(): { data?: unknown; errors: { message: string; extensions: Record<string, unknown> }[] };
}

/** An array is sent as several headers. */
export type SendHeaders = Record<string, string | string[]>;

interface SendOptions {
  method?: string;
  headers?: SendHeaders;
  body?: string | Buffer;
  /** What the request line has in place of the path. */
  target?: string | undefined;
  /** Keeps connections; without one, each request has its own. */
  agent?: Agent | false;
}

/** Unlike `fetch`, sends any header unchanged and does not decompress bodies. */
export function tSend(
  url: string,
  { method = 'GET', headers = {}, body = '', target, agent = false }: SendOptions = {},
): Promise<Received> {
  return new Promise((resolve, reject) => {
    const length = body === '' ? {} : { 'content-length': String(Buffer.byteLength(body)) };
    const path = target === undefined ? {} : { path: target };
    request(url, { method, headers: { ...length, ...headers }, agent, ...path }, async (response) => {
      const bytes = Buffer.concat(await response.toArray());
      resolve({
        status: response.statusCode ?? 0,
        headers: response.headers as Received['headers'],
        body: bytes,
        json: () => JSON.parse(bytes.toString()),
      });
    })
      .on('error', reject)
      .end(body);
  });
}
