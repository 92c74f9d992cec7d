import { connect, type Socket } from 'node:net';

/*
 * Watches orders over plain sockets, as a child process: an HTTP client would need more memory per watcher than the gateway.
 * Arguments: port of the gateway and number of watchers. Messages: the ids of the orders, and each time that a count is wanted.
 */

const [port, watchers] = process.argv.slice(2, 4).map(Number) as [number, number];
/** Connections that are being opened at a time. */
const opening = 50;
let events = 0;
let ended = 0;
const sockets: Socket[] = [];

const query = `subscription ($id: ID!) {
  essayOrder(id: $id) {
    id
    createdAt
    input { description wordCount }
    state { __typename ... on EssayQueued { position } ... on EssayWriting { textSoFar wordCount } }
  }
}`;

process.on('message', async (message: { ids: string[] } | { count: true }) => {
  if ('count' in message) return process.send?.({ events, ended });
  const { ids } = message;
  let next = 0;
  const openNext = async (): Promise<void> => {
    while (next < watchers) {
      const id = ids[next % ids.length] ?? '';
      next += 1;
      await watch(id);
    }
  };
  await Promise.all(Array.from({ length: opening }, openNext));
  process.send?.({ watching: watchers });
});
process.on('disconnect', () => {
  for (const socket of sockets) socket.destroy();
});
process.send?.({ isReady: true });

/** Resolves with the first event. */
function watch(id: string): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    sockets.push(socket);
    const body = JSON.stringify({ query, variables: { id } });
    const headers = ['content-type: application/json', 'accept: text/event-stream', `content-length: ${body.length}`];
    socket.write(`POST /graphql HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n${headers.join('\r\n')}\r\n\r\n${body}`);
    socket.setEncoding('latin1').on('data', (text: string) => {
      const count = text.split('event: next').length - 1;
      if (count > 0) resolve();
      events += count;
      if (text.includes('event: complete')) ended += 1;
    });
    socket.on('error', () => {});
    socket.on('close', () => resolve());
  });
}
