import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';

export interface CountingEssayService {
  url: string;
  /** How often the order with this description arrived: each time is paid for. */
  received(description: string): number;
  /** The essay whose whole response was passed on to the system; undefined if there is none. */
  delivered(description: string): string | undefined;
  close(): void;
}

/** An essay service that answers after a random while, of `maxMs` at most. */
export async function startCountingEssayService(maxMs: number): Promise<CountingEssayService> {
  const received = new Map<string, number>();
  const delivered = new Map<string, string>();
  const server = createServer(async (request, response) => {
    // A request that is not complete costs nothing.
    const body = await text(request).catch(() => null);
    if (body === null || body === '') return response.end();
    const { description } = JSON.parse(body) as { description: string };
    const count = (received.get(description) ?? 0) + 1;
    received.set(description, count);
    await sleep(Math.random() * maxMs);
    const essay = `${description}, written ${count} times. ${'A pen writes down a thought for later readers. '.repeat(50)}`;
    response.on('finish', () => delivered.set(description, essay.trim()));
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ essay }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received: (description) => received.get(description) ?? 0,
    delivered: (description) => delivered.get(description),
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
