import { describe, expect, it, vi } from 'vitest';
import { isSeenByTwo, monitorOrderRequests, tRecordingEssayService } from '../support/e2e/recording-essay-service.ts';
import { tIban } from '../support/ibans.ts';
import { type GatewayClient, tReplicas } from '../support/process.ts';
import { tRawClient, tRedis, whyNoRedis } from '../support/redis.ts';
import { replyJson, tUpstream } from '../support/scripted-upstream.ts';

/* Two gateways that share nothing but a Redis. */

/** The count includes the block of the other gateway, at most half of its calls, which is returned after a second. */
async function untilCounted(replica: GatewayClient, service: 'ESSAYS' | 'BANK_DATA', calls: number): Promise<void> {
  let counted: number;
  do {
    if (vi.isFakeTimers()) vi.advanceTimersByTime(500);
    counted = await replica.counted(service);
    expect(counted).toBeGreaterThanOrEqual(calls);
    expect(counted).toBeLessThanOrEqual(1.5 * calls);
  } while (counted > calls);
}

describe.skipIf(whyNoRedis)(`two gateways that share a Redis${whyNoRedis}`, () => {
  it('pay once for an essay that is ordered from both under the same key', async () => {
    const redis = await tRedis();
    const untilRequests = await monitorOrderRequests(redis);
    const bothHaveRequested = () => untilRequests((requests) => isSeenByTwo(requests));
    const service = await tRecordingEssayService({ write: () => bothHaveRequested() });
    const [one, other] = await tReplicas(redis, { essaysUrl: service.url });

    const [first, second] = await Promise.all([one.order('Pens', 'form-1'), other.order('Pens', 'form-1')]);
    expect(second).toEqual(first);
    expect(service.calls).toHaveLength(1);
    expect(first.text).toBe(service.calls[0]?.essay);
    expect(await other.order('Pens', 'form-1')).toEqual(first);
    const query = `{ essay(id: "${first.id}") { id text } }`;
    for (const replica of [one, other]) expect(await replica.ask(query)).toEqual({ essay: first });

    // From here on, the service answers at once: the gateways race.
    const keys = Array.from({ length: 20 }, (_, index) => `form-${index + 2}`);
    const orderAll = (replica: GatewayClient) => Promise.all(keys.map((key) => replica.order(key, key)));
    const [essays, sameEssays] = await Promise.all([orderAll(one), orderAll(other)]);
    expect(sameEssays).toEqual(essays);
    expect(new Set(essays.map(({ id }) => id)).size).toBe(keys.length);
    expect(service.calls.map(({ topic }) => topic).sort()).toEqual(['Pens', ...keys].sort());

    // Without a key, each order is a new essay. Both gateways report all calls.
    await Promise.all([one, other, one].map((replica) => replica.order('Ink')));
    expect(service.calls).toHaveLength(keys.length + 4);
    for (const replica of [one, other]) await untilCounted(replica, 'ESSAYS', service.calls.length);
  });

  it('pay once for each IBAN of a hundred queries that are spread over both', async () => {
    // A look-up waits for Redis for 100 ms only, and is paid for again if this process is busy meanwhile.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const redis = await tRedis();
    const upstream = await tUpstream(replyJson(200, { valid: true }));
    const replicas = await tReplicas(redis, { bankDataUrl: upstream.url });
    const ibans = Array.from({ length: 50 }, (_, index) => tIban(index));
    const validate = (iban: string, replica: GatewayClient | undefined) =>
      replica?.ask(`{ ibanValidation(iban: "${iban}") { iban valid } }`);
    const expected = ibans.map((iban) => ({ ibanValidation: { iban, valid: true } }));

    const firsts = await Promise.all(ibans.map((iban, index) => validate(iban, replicas[index % 2])));
    // Answers do not wait until Redis has stored them.
    const client = tRawClient(redis);
    const storedAnswers = () => client.keys('ledgerquill:look-up:*');
    await vi.waitFor(async () => expect((await storedAnswers()).length).toBeGreaterThanOrEqual(ibans.length), {
      timeout: 100_000,
    });
    const seconds = await Promise.all(ibans.map((iban, index) => validate(iban, replicas[(index + 1) % 2])));
    expect(firsts).toEqual(expected);
    expect(seconds).toEqual(expected);
    expect(upstream.calls.map(({ query }) => query.get('iban_number')).sort()).toEqual([...ibans].sort());
    for (const replica of replicas) await untilCounted(replica, 'BANK_DATA', ibans.length);
  });
});
