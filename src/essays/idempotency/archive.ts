import type { Essay } from '../essays.ts';
import type { KeptTexts } from './durable-writes.ts';
import { type NamedOrder, nameEssay } from './fingerprint.ts';

export interface KeptOrder {
  digest: string;
  essay: Essay;
}

/** Essays that were paid for, found by their order's name or by their id. */
export interface KeptEssays {
  findOrder(name: string): Promise<KeptOrder | null>;
  find(id: string, callerId: string): Promise<Essay | null>;
  /** Resolves when it is stored, or waits in memory for the store to work again. */
  keep(essay: Essay, order: NamedOrder | null, callerId: string): Promise<void>;
}

export function createKeptEssays(texts: KeptTexts): KeptEssays {
  return {
    findOrder: read<KeptOrder>,
    async find(id, callerId) {
      const entry = await read<{ essay: Essay } | { orderName: string }>(nameEssay(id, callerId));
      if (entry === null) return null;
      return 'essay' in entry ? entry.essay : ((await read<KeptOrder>(entry.orderName))?.essay ?? null);
    },
    async keep(essay, order, callerId) {
      const byId = nameEssay(essay.id, callerId);
      if (!order) return texts.set(byId, JSON.stringify({ essay }));
      const kept: KeptOrder = { digest: order.digest, essay };
      // Both at once: a write more before the one that counts would be that much more time to crash in.
      await Promise.all([
        texts.set(byId, JSON.stringify({ orderName: order.name })),
        texts.set(order.name, JSON.stringify(kept)),
      ]);
    },
  };

  async function read<T>(key: string): Promise<T | null> {
    const text = await texts.get(key);
    return text === null ? null : (JSON.parse(text) as T);
  }
}
