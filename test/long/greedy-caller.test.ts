import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Pool } from 'undici';
import { expect, it } from 'vitest';
import { as, keyOf, sha256 } from '../support/gateway/callers.ts';
import { readAll, receive, tConnection, untilClosed } from '../support/loopback.ts';
import { tGatewayProcess } from '../support/process.ts';
import { replyJson, tUpstream } from '../support/scripted-upstream.ts';

const sizes = { orders: 200, waiting: 300, unread: 8, slow: 2 };
const maxConnections = 200;

it('a caller who takes what it can get costs others nothing', async () => {
  const bankData = await tUpstream(replyJson(200, { valid: true }));
  const essays = await tUpstream(() => {});
  const { origin } = await tGatewayProcess({
    BANK_DATA_URL: bankData.url,
    BANK_DATA_API_KEY: 'seeded-key-1',
    ESSAY_URL: essays.url,
    ESSAY_API_KEY: 'seeded-key-2',
    ESSAY_ORDERS_PER_CALLER: String(sizes.orders),
    GATEWAY_API_KEYS: ['greedy', 'other'].map((name) => `${name}:${sha256(keyOf(name))}:bank-data+essays`).join(),
    MAX_CONNECTIONS: String(maxConnections),
    MAX_BUFFERED_BYTES: '10000000',
    CLIENT_TIMEOUT_MS: '600000',
  });
  const bearer = (name: string) => as(name).authorization;
  const query = JSON.stringify({ query: '{ ibanValidation(iban: "DE89370400440532013000") { valid } }' });
  const known = formatPost(bearer('other'), query);
  const answer = /\{"data":\{"ibanValidation":\{"valid":true\}\}\}/;
  const other = await tConnection(origin);
  const askAgain = async () => {
    other.write(known);
    expect(await receive(other, answer)).toMatch(/^HTTP\/1\.1 200 /);
  };
  await askAgain();
  const upload = await tConnection(origin, formatPost(bearer('other'), query, 500_000));

  let isTaken = false;
  const askMeanwhile = async () => {
    while (!isTaken) {
      await askAgain();
      expect((await fetch(`${origin}/health`, { headers: { connection: 'close' } })).status).toBe(200);
    }
  };
  const take = async () => {
    const taken = await takeAll(origin, bearer('greedy'));
    isTaken = true;
    return taken;
  };
  const [taken] = await Promise.all([take(), askMeanwhile()]);

  // The older connections of the greedy caller were closed, and no other.
  const countOpen = () => [...taken.waiting, ...taken.slow].filter(({ closed }) => !closed).length;
  await expect.poll(countOpen, { timeout: 100_000, interval: 200 }).toBeLessThanOrEqual(maxConnections - 2);
  expect(taken.waiting.slice(-100).filter(({ closed }) => closed)).toEqual([]);
  // Sixteen of its orders run at a time, and the one that its connections wait for.
  expect(essays.calls.length).toBeLessThanOrEqual(17);
  for (let count = 0; count < 30; count += 1) {
    await askAgain();
    const fresh = await tConnection(origin, known.replace('host:', 'connection: close\r\nhost:'));
    expect(await readAll(fresh)).toMatch(answer);
    for (const path of ['/health', '/ready']) expect((await fetch(origin + path)).status).toBe(200);
  }
  upload.write(' '.repeat(500_000 - query.length));
  expect(await receive(upload, answer)).toMatch(/^HTTP\/1\.1 200 /);
  // Its responses of 7 MB do not fit into MAX_BUFFERED_BYTES, so most were aborted.
  const isWhole = ({ bytesRead }: Socket) => bytesRead > 7_000_000;
  for (const socket of taken.unread) socket.resume();
  await expect
    .poll(() => taken.unread.every((socket) => socket.closed || isWhole(socket)), { timeout: 100_000 })
    .toBe(true);
  expect(taken.unread.filter(isWhole).length).toBeLessThan(sizes.unread / 2);
  taken.close();
  await Promise.all(taken.waiting.map(untilClosed));
});

/** What a caller has taken. */
interface Taken {
  /** Each waits for the same order. */
  waiting: readonly Socket[];
  /** Each has a response of 7 MB, of which nothing is read. */
  unread: readonly Socket[];
  /** Each has sent a part of a body. */
  slow: readonly Socket[];
  close(): void;
}

/** Takes it in this order. The essay service must not answer meanwhile. */
async function takeAll(origin: string, authorization: string): Promise<Taken> {
  await startOrders(origin, authorization, sizes.orders);
  const aliases = Array.from({ length: 100 }, (_, index) => `d${index}: description`).join(' ');
  const large = JSON.stringify({ query: `{ essayOrders(first: 7) { nodes { input { ${aliases} } } } }` });
  const joined = JSON.stringify({ query: orderMutation, variables: { input: inputOf(0, sizes.orders) } });
  const unread = await open(sizes.unread, formatPost(authorization, large), false);
  const slow = await open(sizes.slow, formatPost(authorization, '{"query":', 500_000), true);
  const waiting = await open(sizes.waiting, formatPost(authorization, joined), true);
  const all = [...waiting, ...unread, ...slow];
  return { waiting, unread, slow, close: () => all.forEach((socket) => void socket.destroy()) };

  async function open(count: number, request: string, isRead: boolean): Promise<Socket[]> {
    const sockets: Socket[] = [];
    for (let opened = 0; opened < count; opened += 1) {
      const socket = connect(Number(new URL(origin).port), '127.0.0.1').on('error', () => {});
      sockets.push(isRead ? socket.resume() : socket.pause());
      await once(socket, 'connect');
      socket.write(request);
    }
    return sockets;
  }
}

/** An HTTP request to /graphql. @param length announces more than the body has */
function formatPost(authorization: string, body: string, length = Buffer.byteLength(body)): string {
  const headers = [`authorization: ${authorization}`, 'content-type: application/json', `content-length: ${length}`];
  return `POST /graphql HTTP/1.1\r\nhost: localhost\r\n${headers.join('\r\n')}\r\n\r\n${body}`;
}

const orderMutation = 'mutation ($input: GenerateEssayInput!) { generateEssay(input: $input) { __typename } }';
const startMutation = 'mutation ($input: StartEssayInput!) { startEssay(input: $input) { __typename } }';

/** The last ones are long: the list of orders begins with them. */
function inputOf(number: number, orders: number) {
  const length = number > orders - 10 ? 10_000 : 20;
  const description = `Pens, ${number}. `.padEnd(length, 'The nib and its feed. ');
  return { description, wordCount: 100, idempotencyKey: `order-${number}` };
}

async function startOrders(origin: string, authorization: string, orders: number): Promise<void> {
  const pool = new Pool(origin, { connections: 8, pipelining: 1 });
  const headers = { authorization, 'content-type': 'application/json' };
  let started = 0;
  const start = async () => {
    while (started < orders) {
      started += 1;
      const body = JSON.stringify({ query: startMutation, variables: { input: inputOf(started, orders) } });
      const response = await pool.request({ path: '/graphql', method: 'POST', headers, body });
      const text = await response.body.text();
      if (!text.includes('"EssayOrder"')) throw new Error(`the order was not started: ${text}`);
    }
  };
  await Promise.all(Array.from({ length: 8 }, start));
  await pool.close();
}
