import { redisUrl } from '../../../../src/gateway/config/redis-url.ts';
import { createLmdbStore } from '../../../../src/gateway/stores/lmdb-store.ts';
import { createRedisStore } from '../../../../src/gateway/stores/redis-store.ts';

/* A child process of tests: adds 1 to a counter 250 times concurrently and tries to acquire a lock. */

const { FOLDER, REDIS_URL = '' } = process.env;
const day = { expiresInMs: 86_400_000 };
const events = { storeDown: () => {}, storeUp: () => {} };
const store =
  FOLDER === undefined
    ? createRedisStore({ server: redisUrl.parse(REDIS_URL), commandTimeoutMs: 10_000, events })
    : createLmdbStore({ folder: FOLDER });
await Promise.all(Array.from({ length: 250 }, () => store.add('calls', 1, day)));
process.stdout.write((await store.lock('essay', day)) ? 'locked' : 'not locked');
await store.close();
