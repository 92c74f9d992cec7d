import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished, vi } from 'vitest';
import { tGateway } from '../gateway.ts';
import {
  type GatewayProcess,
  noUpstreams,
  type OrderData,
  orderMutation,
  orderVariables,
  readEssay,
  tGatewayProcess,
  type WrittenEssay,
} from '../gateway-process.ts';

export interface KilledGateway {
  /** Starts it, with the same data folder each time. */
  start(): Promise<GatewayProcess>;
  /** The essays that are stored under these idempotency keys. To be called while no process is running. */
  stored(idempotencyKeys: readonly string[]): Promise<Map<string, WrittenEssay>>;
  /** Advances the clocks of the running process and of later ones: locks expire, essays do not. */
  expireLocks(gateway: GatewayProcess): Promise<void>;
}

interface Options {
  essaysUrl: string;
  clock?: 'scripted' | 'real';
}

/**
 * A gateway to be killed and started again, with a data folder that is deleted when the test ends. Its scripted clock
 * starts in the middle of a month, so that the month does not end.
 */
export function tKilledGateway({ essaysUrl, clock = 'scripted' }: Options): KilledGateway {
  const folder = mkdtempSync(join(tmpdir(), 'ledgerquill-crash-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const dataDir = join(folder, 'data');
  let aheadMs = Date.UTC(2040, 0, 10) - Date.now();
  let copies = 0;

  return {
    start() {
      return tGatewayProcess({
        ...(clock === 'scripted' && { NODE_OPTIONS: `--import=data:text/javascript,${scriptClock(aheadMs)}` }),
        ...noUpstreams,
        DATA_DIR: dataDir,
        ESSAY_URL: essaysUrl,
      });
    },
    /** Repeats the orders at a gateway without an essay service, after all locks have expired. */
    async stored(idempotencyKeys) {
      const found = new Map<string, WrittenEssay>();
      if (!existsSync(dataDir)) return found;
      // A copy, so that the next process is the first to open the store after the kill.
      copies += 1;
      const copy = join(folder, `copy-${copies}`);
      cpSync(dataDir, copy, { recursive: true, filter: (path) => !path.endsWith('-lock') });
      vi.useFakeTimers({ toFake: ['Date', 'hrtime'], now: Date.now() + aheadMs + lockExpiryMs });
      const gateway = tGateway({ env: { DATA_DIR: copy } });
      for (const key of idempotencyKeys) {
        const { data } = await gateway.ask(orderMutation, orderVariables(key, key));
        const essay = readEssay(data as unknown as OrderData);
        if (essay) found.set(key, essay);
      }
      await gateway.close();
      vi.useRealTimers();
      return found;
    },
    async expireLocks({ process }) {
      aheadMs += lockExpiryMs;
      process.kill('SIGUSR2');
      // Otherwise the lock of a later order might expire, too.
      await process.printed(new RegExp(`clock: ${aheadMs} ms ahead\\n`));
    },
  };
}

/** Longer than the lock of an order lasts. */
const lockExpiryMs = 60_000;

function scriptClock(aheadMs: number): string {
  return encodeURIComponent(`const { now } = Date;
    let aheadMs = ${aheadMs};
    Date.now = () => now() + aheadMs;
    const { bigint } = process.hrtime;
    process.hrtime.bigint = () => bigint() + BigInt(aheadMs) * 1_000_000n;
    process.on('SIGUSR2', () => {
      aheadMs += ${lockExpiryMs};
      process.stdout.write('clock: ' + aheadMs + ' ms ahead\\n');
    });`);
}
