import * as z from 'zod';
import { GatewayError } from '../../errors.ts';
import type { Events } from '../../telemetry/events.ts';
import { type Essay, type EssayArchive, essayModes, type InvalidEssayInput } from '../essays.ts';
import { type DurableWrites, duplicateEssay } from './durable-writes.ts';
import { differentOrder, essayStoreKey, type OrderIdentity } from './fingerprint.ts';
import { parseRecord, version1 } from './record.ts';

/** The essays that were paid for, by order and by id. */
export interface OrderArchive extends EssayArchive {
  /** InvalidEssayInput if the key was used for a different order. @throws StoreError */
  findByOrder(order: OrderIdentity): Promise<Essay | InvalidEssayInput | null>;
  /** Like `findByOrder`, but searches only the buffered writes. */
  findBufferedByOrder(order: OrderIdentity): Essay | InvalidEssayInput | null;
  /**
   * Resolves when the essay is stored or buffered; never rejects. @returns the essay of the order: the first that was
   * stored, so that a process that lost the order lock and is late does not replace an essay that a client received
   */
  save(essay: Essay, order: OrderIdentity | null, callerId: string): Promise<Essay>;
}

export function createArchive(writes: DurableWrites, events: Pick<Events, 'essayLost'>): OrderArchive {
  return {
    async find(id, { callerId }) {
      try {
        const found = parseRecord(essayRecord, await writes.get(essayStoreKey(id, callerId)));
        if (!found || 'essay' in found) return found?.essay ?? null;
        return parseRecord(orderRecord, await writes.get(found.orderName))?.essay ?? null;
      } catch (cause) {
        const message = 'Stored essays cannot be read at the moment. Try again later.';
        throw new GatewayError('INTERNAL_SERVER_ERROR', message, { retryable: true, cause });
      }
    },
    findByOrder: async (order) => parseOrder(await writes.get(order.storeKey), order),
    findBufferedByOrder: (order) => parseOrder(writes.getBuffered(order.storeKey), order),
    async save(essay, order, callerId) {
      const key = essayStoreKey(essay.id, callerId);
      const earlier = order && (await writeOrder(essay, order, key));
      if (earlier?.kind === 'essay') {
        events.essayLost(duplicateEssay);
        return earlier;
      }
      if (!order || earlier) await writes.write({ [key]: JSON.stringify({ version: 1, essay }) });
      return essay;
    },
  };

  /** The earlier essay, if there was one; `differentOrder` if it cannot be read. */
  async function writeOrder(
    essay: Essay,
    order: OrderIdentity,
    key: string,
  ): Promise<Essay | InvalidEssayInput | null> {
    const { storeKey, fingerprint } = order;
    const reference = JSON.stringify({ version: 1, orderName: storeKey });
    const record = JSON.stringify({ version: 1, digest: fingerprint, essay });
    const earlier = await writes.write({ [key]: reference, [storeKey]: record }, storeKey);
    try {
      return parseOrder(earlier, order);
    } catch {
      return differentOrder;
    }
  }
}

function parseOrder(text: string | null, { fingerprint }: OrderIdentity): Essay | InvalidEssayInput | null {
  const found = parseRecord(orderRecord, text);
  return found && (found.digest === fingerprint ? found.essay : differentOrder);
}

const essay: z.ZodType<Essay> = z.object({
  kind: z.literal('essay'),
  id: z.string(),
  text: z.string(),
  wordCount: z.number(),
  mode: z.enum(essayModes),
});

/* The property names are those of release 0.1.0, which shares the store during a rolling update. */

/** Stored under `storeKey` of the order. */
const orderRecord = z.object({ version: version1, digest: z.string(), essay });

/** Stored under `essayStoreKey`; `orderName` is the store key of its order. */
const essayRecord = z.union([
  z.object({ version: version1, essay }),
  z.object({ version: version1, orderName: z.string() }),
]);
