import { createMemoryStore } from './memory-store.ts';

/* A process of the tests: fills a store, and ends by itself if nothing holds it. */

const day = { expiresInMs: 86_400_000 };
const store = createMemoryStore();
await store.set('key', 'value', day);
await store.add('key', 1, day);
await store.lock('key', day);
