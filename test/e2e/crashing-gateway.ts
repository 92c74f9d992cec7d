import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { toKeyedOrder } from '../../src/essays/idempotency/fingerprint.ts';
import { createRequestContext } from '../../src/request-context.ts';
import { createLmdbStore } from '../../src/stores/lmdb-store.ts';
import { withSealing } from '../../src/stores/sealed-store.ts';
import { readOrCreateSecret } from '../../src/stores/store-secret.ts';
import { tProcess } from '../process.ts';
import { type RunningGateway, untilReady, type WrittenEssay } from './running-gateway.ts';

export interface CrashingGateway {
  /** Runs it from the build, on the same folder each time. */
  start(): Promise<RunningGateway>;
  /** The essays that the store holds for these idempotency keys, while no gateway is running. */
  stored(idempotencyKeys: readonly string[]): Promise<Map<string, WrittenEssay>>;
  /** Has the running one, and all that come after, believe that it is this much later: locks expire, essays do not. */
  passTime(gateway: RunningGateway): void;
}

interface Options {
  essaysUrl: string;
  /** Real: time passes by itself only. */
  clock?: 'scripted' | 'real';
}

/** A gateway with a folder of its own, gone when the test is. Its clock is in the middle of a month, which does not end. */
export function tCrashingGateway({ essaysUrl, clock = 'scripted' }: Options): CrashingGateway {
  const folder = mkdtempSync(join(tmpdir(), 'ledgerquill-crash-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const dataDir = join(folder, 'data');
  let aheadMs = Date.UTC(2040, 0, 10) - Date.now();

  return {
    start() {
      const args =
        clock === 'real' ? [] : ['--import', `data:text/javascript,${encodeURIComponent(scriptClock(aheadMs))}`];
      const gateway = tProcess(process.execPath, [...args, 'dist/main.js'], {
        PORT: '0',
        DATA_DIR: dataDir,
        ESSAY_URL: essaysUrl,
        ESSAY_API_KEY: 'seeded-key-1',
        // Not asked: without it, a service of our own would be started each time.
        BANK_DATA_URL: 'http://127.0.0.1:9',
        BANK_DATA_API_KEY: 'seeded-key-2',
      });
      return untilReady(gateway);
    },
    async stored(idempotencyKeys) {
      const found = new Map<string, WrittenEssay>();
      if (!existsSync(join(dataDir, 'store-secret'))) return found;
      // A copy, so that the next gateway is the first to open what the last one left.
      const copy = join(folder, 'copy');
      cpSync(dataDir, copy, { recursive: true, filter: (path) => !path.endsWith('-lock') });
      const store = withSealing(createLmdbStore({ folder: copy }), () => readOrCreateSecret(copy));
      for (const key of idempotencyKeys) {
        const record = await store.get(storeKeyOf(key));
        if (record !== null) found.set(key, JSON.parse(record).essay);
      }
      await store.close();
      rmSync(copy, { recursive: true });
      return found;
    },
    passTime(gateway) {
      aheadMs += locksExpireMs;
      gateway.process.kill('SIGUSR2');
    },
  };
}

/** Longer than the lock of an order lasts. */
const locksExpireMs = 60_000;

function scriptClock(aheadMs: number): string {
  return `const { now } = Date;
    let aheadMs = ${aheadMs};
    Date.now = () => now() + aheadMs;
    process.on('SIGUSR2', () => { aheadMs += ${locksExpireMs}; });`;
}

function storeKeyOf(idempotencyKey: string): string {
  const { callerId } = createRequestContext(new AbortController().signal);
  const order = { description: '', mode: 'STANDARD', wordCount: 1, purpose: null, titles: [], idempotencyKey } as const;
  const keyed = toKeyedOrder(order, callerId);
  if (!keyed) throw new Error('the order has a key');
  return keyed.storeKey;
}
