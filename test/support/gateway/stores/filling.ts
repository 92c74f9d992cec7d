import { createLmdbStore } from '../../../../src/gateway/stores/lmdb-store.ts';

/* A child process of tests: sets more values than there is space for, and prints how many were written and can be read. */

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
const stored = await Promise.all(written.map((key) => store.get(key)));
const reasons = new Set(outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason.name] : [])));
await store.close();
const readable = stored.filter((text) => text === value).length;
process.stdout.write(JSON.stringify({ written: written.length, readable, reasons: [...reasons] }));
