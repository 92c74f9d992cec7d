import { createLmdbStore } from '../../../../src/gateway/stores/lmdb-store.ts';

/* Run as a process: creates a store in FOLDER and prints why that failed, or "stored". */

const store = createLmdbStore({ folder: process.env.FOLDER ?? '' });
const reason = await store.set('key', 'value', { expiresInMs: 60_000 }).then(
  () => 'stored',
  (error: Error) => error.message,
);
process.stdout.write(reason);
await store.close();
