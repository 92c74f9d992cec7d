import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, vi } from 'vitest';
import { tIban } from '../ibans.ts';
import type { Reply } from '../scripted-upstream.ts';
import { bankOf, essayAbout, type Replica, type Site } from './site.ts';

/* Clients of a site during one outage: look-ups of new and of known IBANs, and orders with idempotency keys, which are repeated until there is an essay. */

interface Load {
  /** What clients have seen since the last call. */
  seen(): Seen;
  /** Ends the load, and repeats all orders until each has its essay. @returns what clients saw of the load since the last `seen` */
  end(options?: { untilAllOrdered?: boolean }): Promise<Seen>;
}

interface Seen {
  lookUps: number;
  failedLookUps: number;
  orders: number;
  /** Codes of errors, and other HTTP statuses than 200, each once and in alphabetical order. */
  codes: string[];
}

interface Order {
  topic: string;
  text: string | null;
}

const lookUpQuery = 'query ($iban: String!) { ibanValidation(iban: $iban) { iban valid bankData { name } } }';
const orderQuery = `mutation ($input: GenerateEssayInput!) {
  generateEssay(input: $input) { __typename ... on Essay { text } ... on EssayServiceFailed { code } }  }`;

/** Between two look-ups of a client. */
const lookUpPauseMs = 50;
/** Orders of an outage are all repeated after it: more would wait for the service long enough for an alert. */
const orderPauseMs = 250;
const knownIbans = Array.from({ length: 5 }, (_, index) => tIban(900_000 + index));

interface LoadOptions {
  /** Whether each order is sent again after its answer. */
  repeatsOrders?: boolean;
  /** Headers of all requests. */
  headers?: Record<string, string>;
}

/** Resolves when all kinds of requests were answered. */
async function startLoad(
  { url, written, nextNumber, gateways }: Site,
  { repeatsOrders = true, headers = {} }: LoadOptions,
): Promise<Load> {
  let isOver = false;
  let seen = createSeen();
  const codes = new Set<string>();
  const orders: Order[] = [];

  async function send<Data>(query: string, variables: object, to = url): Promise<Data | null> {
    const init = {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ query, variables }),
    };
    const response = await fetch(`${to}/graphql`, init).catch(() => null);
    if (response?.status !== 200) {
      await response?.text();
      // If a gateway ends, HAProxy closes the connection of the client, or responds 502 to its first request.
      const isLost = response === null || response.status === 502;
      codes.add(isLost ? 'no response' : String(response.status));
      return null;
    }
    const { data, errors = [] } = (await response.json()) as {
      data: Data | null;
      errors?: { extensions: { code: string } }[];
    };
    for (const { extensions } of errors) codes.add(extensions.code);
    return errors.length === 0 ? data : null;
  }

  async function lookUp(iban: string, to?: string): Promise<void> {
    const data = await send(lookUpQuery, { iban }, to);
    seen.lookUps += 1;
    if (data === null) seen.failedLookUps += 1;
    else expect(data).toEqual({ ibanValidation: { iban, valid: true, bankData: { name: bankOf(iban) } } });
  }

  async function orderEssay(order: Order): Promise<void> {
    const input = { description: order.topic, wordCount: 100, idempotencyKey: order.topic };
    const data = await send<{ generateEssay: { __typename: string; text?: string; code?: string } }>(orderQuery, {
      input,
    });
    const { __typename, text, code = __typename } = data?.generateEssay ?? {};
    seen.orders += 1;
    if (text === undefined && code !== undefined) codes.add(code);
    if (text === undefined) return;
    expect(text).toBe(essayAbout(order.topic));
    order.text = text;
  }

  async function orderNext(): Promise<void> {
    const order = { topic: `Pens of design ${nextNumber()}`, text: null };
    orders.push(order);
    await orderEssay(order);
    if (repeatsOrders) await orderEssay(order);
  }

  async function repeat(request: () => Promise<void>, pauseMs: number): Promise<void> {
    while (!isOver) {
      await request();
      await pause(pauseMs);
    }
  }

  for (const gateway of gateways) for (const iban of knownIbans) await lookUp(iban, gateway.current().origin);
  await orderNext();
  const lookUpNew = () => lookUp(tIban(nextNumber()));
  const lookUpKnown = () => lookUp(knownIbans[seen.lookUps % knownIbans.length] as string);
  const clients = Promise.all([
    ...[lookUpNew, lookUpNew, lookUpKnown].map((lookUp) => repeat(lookUp, lookUpPauseMs)),
    ...[orderNext, orderNext].map((order) => repeat(order, orderPauseMs)),
  ]);
  // Reported when it ends.
  clients.catch(() => {});
  await vi.waitUntil(() => seen.orders > 10, { interval: 20, timeout: 100_000 });

  function takeSeen(): Seen {
    const taken = { ...seen, codes: [...codes].toSorted() };
    seen = createSeen();
    codes.clear();
    return taken;
  }

  return {
    seen: takeSeen,
    async end({ untilAllOrdered = true } = {}) {
      isOver = true;
      await clients;
      const last = takeSeen();
      const isOrdered = async () => {
        const open = orders.filter(({ text }) => text === null);
        await Promise.all(open.map(orderEssay));
        expect(open.length, `orders without an essay: ${[...codes]}`).toBe(0);
      };
      if (untilAllOrdered) await vi.waitFor(isOrdered, { interval: 100, timeout: 100_000 });
      const topics = orders.map(({ topic }) => topic);
      const paid = written.filter((topic) => topics.includes(topic)).toSorted();
      // No order is paid for twice.
      expect(paid).toEqual([...new Set(paid)]);
      if (untilAllOrdered) expect(paid).toEqual(topics.toSorted());
      return last;
    },
  };
}

function createSeen() {
  return { lookUps: 0, failedLookUps: 0, orders: 0 };
}

/* Outages of a site, and whether they are seen as the table in docs/incidents.md says. */

/** While Redis fails, look-ups are answered: tests of the stores hold how long they wait for it. */
export function expectLookUps({ lookUps, failedLookUps }: Seen): void {
  expect(lookUps).toBeGreaterThan(10);
  expect(failedLookUps).toBe(0);
}

/** Replies so to calls of one method, and right to the others. */
export function replyTo(method: 'GET' | 'POST', reply: Reply, replyRight: Reply): Reply {
  return (response, call) => (call.method === method ? reply : replyRight)(response, call);
}

/** They may also fire because the machine of the test is busy, or has little space. */
const machineAlerts = ['DiskNearlyFull', 'Down', 'EventLoopBlocked', 'OverheadHigh', 'ReplicaDown', 'StoreSlow'];

/** A row of the table: the texts in backticks of its cells. */
interface Row {
  /** Codes of errors and HTTP statuses that clients receive. */
  codes: string[];
  /** What /ready reports as the failure of the store. */
  failures: string[];
  /** Expressions of PromQL that are true during the outage. */
  metrics: string[];
  /** In the log of a gateway. There are no other warnings and errors. */
  log: string[];
  /** There are no others. */
  alerts: string[];
}

const page = readFileSync(new URL('../../../docs/incidents.md', import.meta.url), 'utf8');

function readRow(name: string): Row {
  const line = page.split('\n').find((text) => text.startsWith(`| ${name} |`));
  if (line === undefined) throw new Error(`docs/incidents.md has no row for the outage: ${name}`);
  const [codes = [], failures = [], metrics = [], log = [], alerts = []] = line
    .split(' | ')
    .slice(1)
    .map((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, text = '']) => text));
  return { codes, failures, metrics, log, alerts };
}

interface Outage {
  /** As in the table. */
  name: string;
  /** Receives the gateway that has sent an order whose essay is being written. */
  begin: (ordering: Replica) => unknown;
  /** Called when all that the row says was seen. */
  during?: () => unknown;
  /** Ends it. */
  end: () => unknown;
  /** Of the clients, each of whose orders is sent twice by default. */
  load?: { repeatsOrders?: boolean; headers?: Record<string, string> };
  /** Whether all orders are repeated until they have an essay. By default, yes. */
  untilAllOrdered?: boolean;
}

/**
 * Waits during the outage until all that its row says was seen, and afterwards until the site works again. Checks that
 * nothing else was seen, and that no order was paid for twice. A site may have several outages, one after the other.
 * @returns what clients saw between its begin and its end
 */
export async function playOutage(
  site: Site,
  { name, begin, during = () => {}, end, load: options = {}, untilAllOrdered = true }: Outage,
): Promise<Seen> {
  const { gateways, prometheus } = site;
  const row = readRow(name);
  const until = (isSeen: () => Promise<void>) =>
    vi.waitFor(isSeen, { interval: 100, timeout: 100_000 }).catch((error: Error) => {
      error.message = `${name}: ${error.message}`;
      throw error;
    });
  const findFailures = async () => {
    const failures = await Promise.all(gateways.map((gateway) => gateway.storeFailure()));
    return [...new Set(failures)].filter((failure) => failure !== null);
  };
  const ofOutage = (alerts: readonly string[]) =>
    alerts.filter((alert) => row.alerts.includes(alert) || !machineAlerts.includes(alert));
  const firing = async () => ofOutage(await prometheus.firing());
  const works = async () => expect(await findFailures(), '/ready').toEqual([]);
  const load = await startLoad(site, options);
  await Promise.all([until(works), prometheus.untilScraped()]);
  // Alerts of an earlier outage clear later than it ends.
  await until(async () => expect(await firing()).toEqual([]));

  const beganAt = Date.now();
  for (const gateway of gateways) gateway.begin();
  load.seen();
  // Each outage meets an order that is paid for, and not yet answered.
  await begin(await site.untilOrdering());
  await until(async () => {
    const output = gateways.map((gateway) => gateway.output()).join('\n');
    expect(row.log.filter((text) => !output.includes(text))).toEqual([]);
    expect(await findFailures(), '/ready').toEqual(expect.arrayContaining(row.failures));
  });
  await until(async () => {
    expect(await findFailures(), '/ready').toEqual(row.failures);
    const results = await Promise.all(row.metrics.map((expression) => prometheus.query(expression)));
    expect(row.metrics.filter((_, index) => results[index]?.length === 0)).toEqual([]);
    expect(await firing()).toEqual(row.alerts.toSorted());
  });
  await during();
  await end();
  const seen = await load.end({ untilAllOrdered });

  await until(works);
  expect(seen.codes, name).toEqual(row.codes.toSorted());
  expect(ofOutage(await prometheus.fired(beganAt)), name).toEqual(row.alerts.toSorted());
  const problems = gateways.flatMap((gateway) => gateway.problems());
  expect(problems.filter((problem) => !row.log.some((text) => problem.includes(text)))).toEqual([]);
  return seen;
}
