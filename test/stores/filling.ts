import { createLmdbStore } from '../../src/stores/lmdb-store.ts';

/*
 * A process of the tests: sets values, three at a time, where files cannot grow without end, and says how that went and
 * whether it still has what it was told is written.
 */

const { FOLDER = '' } = process.env;
const day = { expiresInMs: 86_400_000 };
const value = 'x'.repeat(100_000);
const store = createLmdbStore({ folder: FOLDER });
const keys = Array.from({ length: 90 }, (_, number) => `key-${number}`);
const outcomes: PromiseSettledResult<void>[] = [];
while (outcomes.length < keys.length) {
  const next = keys.slice(outcomes.length, outcomes.length + 3);
  outcomes.push(...(await Promise.allSettled(next.map((key) => store.set(key, value, day)))));
}
const written = keys.filter((_, index) => outcomes[index]?.status === 'fulfilled');
const kept = await Promise.all(written.map(async (key) => (await store.get(key)) === value));
const reasons = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason.name] : []));
await store.close();
process.stdout.write(
  JSON.stringify({ written: written.length, kept: kept.filter(Boolean).length, reasons: [...new Set(reasons)] }),
);
