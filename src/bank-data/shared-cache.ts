import { z } from 'zod';
import type { Store } from '../stores/store.ts';
import type { SecondLevel } from './look-up-cache.ts';

const keptAnswer = z.object({ answer: z.looseObject({}), freshUntil: z.number(), staleUntil: z.number() });

/**
 * The look-up cache that several gateways share. A store that fails is as good as an empty one: the gateway goes on
 * with what it has itself.
 */
export function createSecondLevel(store: Store): SecondLevel {
  return {
    async get(key) {
      try {
        const text = await store.get(nameOf(key));
        return text === null ? null : keptAnswer.parse(JSON.parse(text));
      } catch {
        return null;
      }
    },
    set(key, kept) {
      const expiresInMs = kept.staleUntil - Date.now();
      if (expiresInMs > 0) store.set(nameOf(key), JSON.stringify(kept), { expiresInMs }).catch(() => {});
    },
  };
}

/** The version changes with the shape of an answer: a replica of another release must not be handed what it cannot read. */
function nameOf(key: string): string {
  return `answer:1:${key}`;
}
