import { EventEmitter, once } from 'node:events';
import { Redis } from 'ioredis';
import { describe, expect, it, onTestFinished } from 'vitest';
import { buildIban } from '../../src/iban/build-iban.ts';
import { tScript } from '../process.ts';
import { type TRedis, tRedis, whyNoRedis } from '../redis.ts';
import { replyJson, tUpstream } from '../scripted-upstream.ts';
import { tCountingEssayService } from './counting-essay-service.ts';
import { type RunningGateway, untilReady } from './running-gateway.ts';

/* Two processes, each of which knows of the other only what the Redis between them tells. */

const nowhere = 'http://127.0.0.1:9';

function tReplicas({ redis, essaysUrl = nowhere, bankDataUrl = nowhere }: ReplicasOptions) {
  const start = () =>
    untilReady(
      tScript('src/main.ts', {
        PORT: '0',
        REDIS_URL: redis.url,
        STORE_SECRET: 'a-secret-that-all-share',
        ESSAY_URL: essaysUrl,
        ESSAY_API_KEY: 'seeded-key-1',
        BANK_DATA_URL: bankDataUrl,
        BANK_DATA_API_KEY: 'seeded-key-2',
      }),
    );
  return Promise.all([start(), start()]);
}

interface ReplicasOptions {
  redis: TRedis;
  essaysUrl?: string;
  bankDataUrl?: string;
}

/** Resolves when that many clients of this Redis have asked for one lock, each for the same one. */
async function lockAskedFor(redis: TRedis, clients: number): Promise<() => Promise<void>> {
  const askers = new Map<string, Set<string>>();
  const asking = new EventEmitter();
  const client = new Redis(redis.url);
  const monitor = await client.monitor();
  onTestFinished(() => client.disconnect());
  onTestFinished(() => monitor.disconnect());
  monitor.on('monitor', (_time: string, [command, key = '', ...rest]: string[], client: string) => {
    if (command?.toLowerCase() !== 'set' || rest.at(-1) !== 'NX') return;
    askers.set(key, (askers.get(key) ?? new Set()).add(client));
    asking.emit('asked');
  });
  return async () => {
    while (![...askers.values()].some(({ size }) => size >= clients)) await once(asking, 'asked');
  };
}

describe.skipIf(whyNoRedis)(`two processes that share a Redis${whyNoRedis}`, { timeout: 60_000 }, () => {
  it('have an essay written once that is ordered from both by one key', async () => {
    const redis = await tRedis();
    const bothWantIt = await lockAskedFor(redis, 2);
    const service = await tCountingEssayService({ write: () => bothWantIt() });
    const [one, other] = await tReplicas({ redis, essaysUrl: service.url });

    const [first, second] = await Promise.all([one.order('Pens', 'form-1'), other.order('Pens', 'form-1')]);
    expect(second).toEqual(first);
    expect(service.calls).toHaveLength(1);
    expect(first.text).toBe(service.calls[0]?.essay);
    expect(await other.order('Pens', 'form-1')).toEqual(first);
    const query = `{ essay(id: "${first.id}") { id text } }`;
    for (const replica of [one, other]) expect(await replica.ask(query)).toEqual({ essay: first });

    // Now that one lock was asked for by both, nothing holds the service back: they race.
    const keys = Array.from({ length: 20 }, (_, index) => `form-${index + 2}`);
    const orderAll = (replica: RunningGateway) => Promise.all(keys.map((key) => replica.order(key, key)));
    const [essays, sameEssays] = await Promise.all([orderAll(one), orderAll(other)]);
    expect(sameEssays).toEqual(essays);
    expect(new Set(essays.map(({ id }) => id)).size).toBe(keys.length);
    expect(service.calls.map(({ topic }) => topic).sort()).toEqual(['Pens', ...keys].sort());

    // Without a key each order is one more, and both know of all.
    await Promise.all([one, other, one].map((replica) => replica.order('Ink')));
    expect(service.calls).toHaveLength(keys.length + 4);
    for (const replica of [one, other]) expect(await replica.counted('ESSAYS')).toBe(service.calls.length);
  });

  it('pay once for each IBAN of a hundred look-ups that are spread over both', async () => {
    const redis = await tRedis();
    const upstream = await tUpstream(replyJson(200, { valid: true }));
    const replicas = await tReplicas({ redis, bankDataUrl: upstream.url });
    const ibans = Array.from({ length: 50 }, (_, index) => tIban(index));
    const lookUp = (iban: string, replica: RunningGateway | undefined) =>
      replica?.ask(`{ ibanValidation(iban: "${iban}") { iban valid } }`);
    const found = ibans.map((iban) => ({ ibanValidation: { iban, valid: true } }));

    const firsts = await Promise.all(ibans.map((iban, index) => lookUp(iban, replicas[index % 2])));
    const seconds = await Promise.all(ibans.map((iban, index) => lookUp(iban, replicas[(index + 1) % 2])));
    expect(firsts).toEqual(found);
    expect(seconds).toEqual(found);
    expect(upstream.calls.map(({ query }) => query.get('iban_number')).sort()).toEqual([...ibans].sort());
    for (const replica of replicas) expect(await replica.counted('BANK_DATA')).toBe(ibans.length);
  });
});

function tIban(account: number): string {
  const made = buildIban({ country: 'DE', bankCode: '37040044', accountNumber: String(532_013_000 + account) });
  if (made.kind !== 'iban') throw new Error(JSON.stringify(made));
  return made.iban;
}
