import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statfsSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { createPaidBudgets } from '../../../../src/gateway/callers/paid-budget.ts';
import { redisUrl } from '../../../../src/gateway/config/redis-url.ts';
import { createLmdbStore } from '../../../../src/gateway/stores/lmdb-store.ts';
import { openStore } from '../../../../src/gateway/stores/open-store.ts';
import { createRedisStore } from '../../../../src/gateway/stores/redis-store.ts';
import { readOrCreateSecret } from '../../../../src/gateway/stores/sealed-store.ts';
import { StoreError } from '../../../../src/gateway/stores/store.ts';

/* A child process of tests, which uses a store as its first argument says. `tStoreProcess` starts it. */

const { FOLDER = '', FOLDERS = '', COUNT, FREE_KB = '', ROUND = '', REDIS_URL = '', CALLS = '' } = process.env;
const day = { expiresInMs: 86_400_000 };
const events = {
  ...{ storeDown() {}, storeUp() {}, storeFailed() {}, storeRisksChanged() {} },
  ...{ budgetsNotStored() {}, countRestored() {} },
};

const uses: Readonly<Record<string, () => Promise<void>>> = {
  /** Adds 1 to a counter 500 times concurrently. */
  async add() {
    const store = createLmdbStore({ folder: FOLDER });
    await Promise.all(Array.from({ length: 500 }, () => store.add('calls', 1, day)));
    await store.close();
  },

  /** Sets more values than there is space for, and prints how many were written and can be read. */
  async fill() {
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
    const reasons = new Set(
      outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason.name] : [])),
    );
    await store.close();
    const readable = stored.filter((text) => text === value).length;
    print({ written: written.length, readable, reasons: [...reasons] });
  },

  /**
   * On a disk that its file `other` fills: for each number of FREE_KB, creates a store with so much free space, and again on the empty
   * disk. Prints for both why that failed, or "stored".
   */
  async writeFirst() {
    const other = join(FOLDER, 'other');
    const attempts: string[][] = [];
    for (const freeKb of FREE_KB.split(',').map(Number)) {
      for (const name of readdirSync(FOLDER)) rmSync(join(FOLDER, name), { recursive: true });
      const { bavail, bsize } = statfsSync(FOLDER);
      writeFileSync(other, Buffer.alloc(bavail * bsize - freeKb * 1_024));
      const full = await writeFirst();
      rmSync(other);
      attempts.push([full, await writeFirst()]);
    }
    print(attempts);
  },

  /** Prints the secrets of 500 folders, which other processes create at the same time. */
  async readSecrets() {
    for (let number = 0; number < 500; number++) {
      process.stdout.write(`${readOrCreateSecret(join(FOLDER, String(number)))}\n`);
    }
  },

  /** Cuts off copies of a store after each page. Prints how many are refused, and missing values. */
  async truncate() {
    const keys = Array.from({ length: 60 }, (_, number) => `key-${number}`);
    const store = createLmdbStore({ folder: FOLDER });
    // Overwritten, so that the trees are not at the end of the file.
    for (const length of [9_000, 20, 9_000, 20_000]) {
      for (const key of keys) await store.set(key, 'x'.repeat(length), day);
    }
    for (const key of keys) await store.set(key, 'y'.repeat(9_000), day);
    await store.close();

    const path = join(FOLDER, 'store-1.lmdb');
    const pageBytes = 4_096;
    const pages = statSync(path).size / pageBytes;
    let [refused, missing] = [0, 0];
    for (let left = pages - 1; left > 0; left--) {
      const folder = join(FOLDER, String(left));
      mkdirSync(folder);
      const copy = join(folder, 'store-1.lmdb');
      copyFileSync(path, copy);
      truncateSync(copy, left * pageBytes);
      try {
        const store = createLmdbStore({ folder });
        for (const key of keys) if ((await store.get(key)) !== 'y'.repeat(9_000)) missing += 1;
        await store.close();
      } catch {
        refused += 1;
      }
    }
    print({ pages, refused, missing });
  },

  /** Writes and counts values until it is killed. Prints each completed write. */
  async write() {
    const store = createLmdbStore({ folder: FOLDER });
    for (let number = 1; ; number++) {
      await Promise.all([store.set(`${ROUND}-${number}`, `essay ${number}`, day), store.add('essays', 1, day)]);
      // Waits for a reader that is slow.
      await new Promise((printed) => process.stdout.write(`${number}\n`, printed));
    }
  },

  /**
   * Uses all of the stores in these folders, as gateways do. Prints how many values of each were as they were written, and fails with
   * anything but a StoreError.
   */
  async use() {
    for (const folder of FOLDERS.split(':')) {
      const { store } = openStore({ redis: null, secret: null }, folder, events);
      let right = 0;
      for (let index = 0; index < Number(COUNT); index++) {
        const value = await attempt(() => store.get(`key-${index}`));
        if (value === `value-${index} `.repeat(1 + (index % 400))) right += 1;
        // A value that was changed is an error, and never another value.
        else if (value !== null) throw new Error('another value');
      }
      await attempt(() => store.set('new', 'value', day));
      await attempt(() => store.add('calls', 1, day));
      await attempt(() => store.close());
      process.stdout.write(`${right}\n`);
    }
  },

  /** Makes calls of one caller in Redis until the budget is exhausted, and prints one character for each. */
  async reserve() {
    const store = createRedisStore({ server: redisUrl.parse(REDIS_URL), commandTimeoutMs: 10_000, events });
    const budgets = createPaidBudgets({ store, replicas: () => 3, events });
    const budget = { calls: Number(CALLS), period: 'month' } as const;
    const limits = { requestsPerMinute: null, bankDataCalls: budget, essayCalls: null, maxQueryCost: null };
    const makeCalls = async () => {
      const reserve = () => budgets.reserve({ id: 'caller', name: 'caller', limits }, 'bank-data');
      while ((await reserve())?.kind === 'reserved') process.stdout.write('.');
    };
    await Promise.all(Array.from({ length: 8 }, makeCalls));
    await budgets.flush();
    await store.close();
  },
};

await uses[process.argv[2] ?? '']?.();

async function writeFirst(): Promise<string> {
  const store = createLmdbStore({ folder: FOLDER });
  const reason = await store.set('key', 'value', day).then(
    () => 'stored',
    (error: Error) => error.message,
  );
  await store.close();
  return reason;
}

function attempt<T>(use: () => Promise<T>): Promise<T | null> {
  return use().catch((error) => {
    if (error instanceof StoreError) return null;
    throw error;
  });
}

function print(found: object): void {
  process.stdout.write(JSON.stringify(found));
}
