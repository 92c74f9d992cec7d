import type { Socket } from 'node:net';
import { expect, it } from 'vitest';
import { formatPost, takeAll } from '../../bench/greedy-caller.ts';
import { sha256 } from '../support/gateway/callers/identify.ts';
import { as, keyOf } from '../support/gateway/http/callers.ts';
import { readAll, receive, tConnection, untilClosed } from '../support/gateway/http/connection.ts';
import { tGatewayProcess } from '../support/gateway-process.ts';
import { replyJson, tUpstream } from '../support/scripted-upstream.ts';

/* bench/greedy-caller.ts takes ten times as much, and measures the times of the known query. */

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
    const taken = await takeAll(origin, bearer('greedy'), sizes);
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
