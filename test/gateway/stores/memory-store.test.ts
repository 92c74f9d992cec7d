import { createMemoryStore } from '../../support/gateway/stores/memory-store.ts';
import { describeStore, tFakeDate } from '../../support/gateway/stores/store-contract.ts';

/* The memory store is a test double: it must fulfil the same contract as the stores that it replaces. */

describeStore('the memory store', async () => {
  const store = createMemoryStore();
  return { store, another: () => store, pass: tFakeDate() };
});
