import { setTimeout as pause } from 'node:timers/promises';
import { expect, vi } from 'vitest';
import { tIban } from '../e2e/iban.ts';
import { bankOf, essayAbout, type Site } from './site.ts';

/* Clients of a site during one outage: look-ups of new and of known IBANs, and orders with idempotency keys, which are repeated until there is an essay. */

export interface Load {
  /** What clients have seen since the last call. */
  seen(): Seen;
  /** Ends the load, and repeats all orders until each has its essay. @returns what clients saw of the load since the last `seen` */
  end(options?: { untilAllOrdered?: boolean }): Promise<Seen>;
}

export interface Seen {
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
export async function startLoad(
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
        return open.length === 0;
      };
      if (untilAllOrdered) await vi.waitUntil(isOrdered, { interval: 100, timeout: 100_000 });
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
