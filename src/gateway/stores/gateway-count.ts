import { ignore } from '../telemetry/events.ts';
import type { Store } from './store.ts';

/** Number of gateways that share a store, as far as this one knows; Infinity: the others may not know of it; null: it is not shared. */
export type Replicas = (() => number) | null;

/**
 * Counts the gateways that share a store: each adds itself once to the count of each ten seconds. One that has stopped is counted for
 * twenty seconds more, and one that was restarted twice meanwhile. While the store fails, the last number remains. One that has just
 * started has no share until the others have counted it: what they use in an outage leaves nothing for it.
 */
export function createGatewayCount(store: Pick<Store, 'add'>) {
  let gateways = Number.POSITIVE_INFINITY;
  let beats = 0;
  let countedIn = 0;
  const timer = setInterval(() => void count().catch(ignore), beatMs).unref();
  void count().catch(ignore);

  return {
    gateways: () => gateways,
    close: () => clearInterval(timer),
  };

  async function count(): Promise<void> {
    const period = Math.floor(Date.now() / periodMs);
    const isNew = period !== countedIn;
    countedIn = period;
    const add = (of: number, amount: number) =>
      store.add(`gateways:${of}`, amount, { expiresInMs: 3 * periodMs, known: null });
    try {
      const present = await add(period, isNew ? 1 : 0);
      const last = await add(period - 1, 0);
      // Without a last period, the store is new, or has lost its data.
      const earlier = last.sum === 0 && Number.isFinite(gateways) ? gateways : 0;
      const counted = Math.max(1, present.sum, last.sum, earlier);
      beats += 1;
      // Each gateway reads the count once between two beats of another.
      gateways = beats > 1 || counted === 1 ? counted : Number.POSITIVE_INFINITY;
    } catch (error) {
      countedIn = 0;
      throw error;
    }
  }
}

const periodMs = 10_000;
/** Twice a period, so that each has one. */
const beatMs = 5_000;
