import { createLmdbStore } from '../../src/stores/lmdb-store.ts';
import { createRedisStore } from '../../src/stores/redis-store.ts';

/* A process of the tests: adds 1 to a counter 250 times at once, and tries to take a lock. */

const { FOLDER, REDIS_URL = '' } = process.env;
const day = { expiresInMs: 86_400_000 };
const redisOptions = { url: REDIS_URL, commandTimeoutMs: 10_000, onDown: () => {}, onUp: () => {} };
const store = FOLDER === undefined ? createRedisStore(redisOptions) : createLmdbStore({ folder: FOLDER });
await Promise.all(Array.from({ length: 250 }, () => store.add('calls', 1, day)));
process.stdout.write((await store.lock('essay', day)) ? 'locked' : 'not locked');
await store.close();
