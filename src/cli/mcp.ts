import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { createParser } from 'eventsource-parser';
import { errorCodeOf, UsageError } from '../base/errors.ts';
import { isObject, parseJson, readProperty } from '../base/parse-json.ts';

/** Speaks the Model Context Protocol on standard input and output, for a running gateway or one of its own. */
export async function runMcp({ gateway }: { gateway?: string }): Promise<void> {
  if (gateway !== undefined && !/^https?:\/\//.test(gateway)) {
    throw new UsageError(`--gateway must be an http:// or https:// URL, but is ${JSON.stringify(gateway)}`);
  }
  const { url, stop } = gateway === undefined ? await startGateway() : { url: gateway, stop: () => {} };
  const key = process.env.LEDGERQUILL_KEY;
  try {
    await bridge({ url, ...(key && { key }), input: process.stdin, output: process.stdout });
  } finally {
    stop();
  }
}

/** Starts a gateway on a free port of this machine, with the configuration in the environment. Its log is on standard error. */
async function startGateway(): Promise<{ url: string; stop(): void }> {
  const args = [...process.execArgv, process.argv[1] ?? '', 'start', '--port', '0', '--host', '127.0.0.1'];
  // Only this process uses it, so it stops at once.
  const env = { SHUTDOWN_DELAY_MS: '0', ...process.env };
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  for await (const line of createInterface({ input: child.stdout })) {
    const [, url] = /Graph(?:i)?QL\s+(\S+)\/graphql/.exec(line) ?? [];
    if (url !== undefined) return { url, stop: () => child.kill('SIGTERM') };
  }
  throw new UsageError('the gateway did not start; its log says why');
}

interface BridgeOptions {
  /** The gateway. */
  url: string;
  key?: string;
  input: Readable;
  output: Writable;
}

/** Sends each line as a request, and writes what the gateway answers, as lines. Resolves when the input has ended. */
export async function bridge({ url, key, input, output }: BridgeOptions): Promise<void> {
  const endpoint = `${url.replace(/\/+$/, '')}/mcp`;
  const active = new Set<Promise<void>>();
  let negotiated: string | null = null;
  for await (const line of createInterface({ input })) {
    if (line.trim() === '') continue;
    const answering = answer(line).finally(() => active.delete(answering));
    active.add(answering);
  }
  await Promise.all(active);

  async function answer(line: string): Promise<void> {
    const message = parseJson(line);
    if (!isObject(message)) return writeError(null, -32_700, 'Each line must be one JSON-RPC message.');
    const id = message.id ?? null;
    try {
      const response = await fetch(endpoint, { method: 'POST', headers: headersOf(message), body: line });
      for (const reply of readReplies(await response.text(), response.headers.get('content-type') ?? '')) {
        if (!readProperty(reply, 'jsonrpc')) writeError(id, -32_000, describeRefusal(reply));
        else write(reply);
        const version = readProperty(readProperty(reply, 'result'), 'protocolVersion');
        if (message.method === 'initialize' && typeof version === 'string') negotiated = version;
      }
    } catch (error) {
      const code = errorCodeOf(readProperty(error, 'cause') ?? error) ?? 'no response';
      writeError(id, -32_000, `The gateway at ${new URL(endpoint).origin} cannot be reached: ${code}.`);
    }
  }

  /** The newer edition repeats what the message says in headers. */
  function headersOf({ method, params }: Record<string, unknown>): Record<string, string> {
    const version = readProperty(readProperty(params, '_meta'), 'io.modelcontextprotocol/protocolVersion');
    const name = readProperty(params, 'name') ?? readProperty(params, 'taskId');
    return {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(key && { authorization: `Bearer ${key}` }),
      ...(negotiated !== null && { 'mcp-protocol-version': negotiated }),
      ...(typeof version === 'string' && { 'mcp-protocol-version': version, 'mcp-method': String(method) }),
      ...(typeof version === 'string' && typeof name === 'string' && { 'mcp-name': name }),
    };
  }

  function writeError(id: unknown, code: number, message: string): void {
    // A notification has no answer.
    if (id !== null || code === -32_700) write({ jsonrpc: '2.0', id, error: { code, message } });
  }

  function write(message: unknown): void {
    output.write(`${JSON.stringify(message)}\n`);
  }
}

/** The messages in a body: none, one as JSON, or events. */
function readReplies(body: string, contentType: string): unknown[] {
  if (body === '') return [];
  if (!contentType.startsWith('text/event-stream')) return [parseJson(body)];
  const replies: unknown[] = [];
  createParser({ onEvent: ({ data }) => replies.push(parseJson(data)) }).feed(body);
  return replies;
}

/** The message of an HTTP error of the gateway. */
function describeRefusal(reply: unknown): string {
  const errors = readProperty(reply, 'errors');
  const message = readProperty(Array.isArray(errors) ? errors[0] : undefined, 'message');
  return typeof message === 'string' ? message : 'The gateway sent a response that is not JSON-RPC.';
}
