import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Behavior, describeIban, readDescriptionBehavior, readIbanBehavior } from './scripted-ibans.ts';
import type { UpstreamAnswer, UpstreamCommand } from './upstream.ts';

/*
 * Both services on one port, as a child process. Each request selects its behavior, unless the benchmark forces one
 * behavior for all requests.
 */

const latencyMs = Number(process.argv[2] ?? 10);
const essay = 'A pen writes down a thought for later readers. '.repeat(30);
let forcedBehavior: Behavior | null = null;
let arrivals: number[] = [];

const server = createServer(async (request, response) => {
  arrivals.push(Date.now());
  const url = new URL(request.url ?? '/', 'http://upstream');
  const iban = url.searchParams.get('iban_number');
  if (iban !== null) return answer(response, readIbanBehavior(iban), describeIban(iban));
  const body = await readJson(request);
  const { description = '' } = (body ?? {}) as { description?: string };
  await answer(response, readDescriptionBehavior(description), { essay: `${description}\n\n${essay}` });
});

async function answer(response: ServerResponse, requestedBehavior: Behavior, body: object): Promise<void> {
  const behavior = forcedBehavior ?? requestedBehavior;
  if (behavior === 'hang') return;
  await sleep(behavior === 'delay' ? 200 : latencyMs);
  if (behavior === 'reset') {
    response.destroy();
    return;
  }
  if (behavior === 'fail') {
    response.writeHead(500, { 'content-type': 'application/json' }).end('{"error":"scripted"}');
    return;
  }
  const text = JSON.stringify(body);
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
  if (behavior === 'truncate') response.write(text.slice(0, text.length / 2), () => response.destroy());
  else response.end(text);
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  try {
    return JSON.parse(Buffer.concat(await request.toArray()).toString());
  } catch {
    return null;
  }
}

function reply(message: UpstreamAnswer): void {
  process.send?.(message);
}

process.on('message', (command: UpstreamCommand) => {
  if ('forcedBehavior' in command) forcedBehavior = command.forcedBehavior;
  reply({ at: Date.now(), arrivals });
  arrivals = [];
});
// The benchmark has exited.
process.on('disconnect', () => {
  server.close();
  server.closeAllConnections();
});
server.listen(0, '127.0.0.1', () => {
  reply({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
});
