import { openStore } from '../../../../src/gateway/stores/open-store.ts';
import { StoreError } from '../../../../src/gateway/stores/store.ts';

/* A process that uses all of a store, as a gateway does. It prints how many values were as they were written, and fails with anything but a StoreError. */

const count = Number(process.env.COUNT);
const hour = { expiresInMs: 3_600_000 };
const events = { storeDown() {}, storeUp() {}, storeFailed() {} };
const { store } = openStore({ redis: null, secret: null }, process.env.FOLDER ?? '', events);
const attempt = <T>(use: () => Promise<T>) =>
  use().catch((error) => {
    if (error instanceof StoreError) return null;
    throw error;
  });

let right = 0;
for (let index = 0; index < count; index++) {
  const value = await attempt(() => store.get(`key-${index}`));
  if (value === `value-${index} `.repeat(1 + (index % 400))) right += 1;
  // A value that was changed is an error, and never another value.
  else if (value !== null) throw new Error('another value');
}
await attempt(() => store.set('new', 'value', hour));
await attempt(() => store.add('calls', 1, hour));
await attempt(() => store.lock('lock', hour));
await attempt(() => store.close());
process.stdout.write(String(right));
