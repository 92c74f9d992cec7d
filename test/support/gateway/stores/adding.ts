import { createLmdbStore } from '../../../../src/gateway/stores/lmdb-store.ts';

/* A child process of tests: adds 1 to a counter 500 times concurrently. */

const day = { expiresInMs: 86_400_000 };
const store = createLmdbStore({ folder: process.env.FOLDER ?? '' });
await Promise.all(Array.from({ length: 500 }, () => store.add('calls', 1, day)));
await store.close();
