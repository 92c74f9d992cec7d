import { z } from 'zod';
import { GatewayError } from '../../errors.ts';
import { type Essay, type EssayArchive, essayModes, type InvalidEssayInput } from '../essays.ts';
import type { DurableWrites } from './durable-writes.ts';
import { differentOrder, essayStoreKey, type OrderIdentity } from './fingerprint.ts';
import { parseRecord, version1 } from './record.ts';

/** The essays that were paid for, by order and by id. */
export interface OrderArchive extends EssayArchive {
  /** InvalidEssayInput if the key was used for a different order. @throws StoreError */
  findByOrder(order: OrderIdentity): Promise<Essay | InvalidEssayInput | null>;
  /** Like `findByOrder`, but searches only the buffered writes. */
  findBufferedByOrder(order: OrderIdentity): Essay | InvalidEssayInput | null;
  /** Resolves when the essay is stored or buffered; never rejects. */
  save(essay: Essay, order: OrderIdentity | null, callerId: string): Promise<void>;
}

export function createArchive(writes: DurableWrites): OrderArchive {
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
    save(essay, order, callerId) {
      const key = essayStoreKey(essay.id, callerId);
      if (!order) return writes.write({ [key]: JSON.stringify({ version: 1, essay }) });
      const { storeKey, fingerprint } = order;
      return writes.write({
        [key]: JSON.stringify({ version: 1, orderName: storeKey }),
        [storeKey]: JSON.stringify({ version: 1, digest: fingerprint, essay }),
      });
    },
  };
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
