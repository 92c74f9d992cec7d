import { openStore } from '../../../../src/gateway/stores/open-store.ts';
import { StoreError } from '../../../../src/gateway/stores/store.ts';

/*
 * A process that uses all of the stores in these folders, as gateways do. It prints how many values of each were as they were written, and
 * fails with anything but a StoreError.
 */

const { FOLDERS = '', COUNT } = process.env;
const count = Number(COUNT);
const hour = { expiresInMs: 3_600_000 };
const events = { storeDown() {}, storeUp() {}, storeFailed() {}, storeRisksChanged() {} };
const attempt = <T>(use: () => Promise<T>) =>
  use().catch((error) => {
    if (error instanceof StoreError) return null;
    throw error;
  });

for (const folder of FOLDERS.split(':')) {
  const { store } = openStore({ redis: null, secret: null }, folder, events);
  let right = 0;
  for (let index = 0; index < count; index++) {
    const value = await attempt(() => store.get(`key-${index}`));
    if (value === `value-${index} `.repeat(1 + (index % 400))) right += 1;
    // A value that was changed is an error, and never another value.
    else if (value !== null) throw new Error('another value');
  }
  await attempt(() => store.set('new', 'value', hour));
  await attempt(() => store.add('calls', 1, hour));
  await attempt(() => store.close());
  process.stdout.write(`${right}\n`);
}
