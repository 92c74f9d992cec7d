import { createLmdbStore } from '../../../../src/gateway/stores/lmdb-store.ts';

/* A child process of tests: writes and counts values until it is killed. Prints each completed write. */

const { FOLDER = '', ROUND = '' } = process.env;
const day = { expiresInMs: 86_400_000 };
const store = createLmdbStore({ folder: FOLDER });
for (let number = 1; ; number++) {
  await Promise.all([store.set(`${ROUND}-${number}`, `essay ${number}`, day), store.add('essays', 1, day)]);
  // Waits for a reader that is slow.
  await new Promise((printed) => process.stdout.write(`${number}\n`, printed));
}
