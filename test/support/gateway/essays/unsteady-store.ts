import { type Store, StoreError } from '../../../../src/gateway/stores/store.ts';
import { tGate } from '../../gate.ts';

interface Interruption {
  pattern: RegExp;
  before: () => Promise<void> | void;
  /** Before its result is returned: it has taken effect. */
  after: () => Promise<void> | void;
}

/** A store whose operations the test can hold back or let fail. An operation is written as `replace key next`. */
export function tUnsteady(memory: Store) {
  const interruptions = new Set<Interruption>();
  async function around<Result>(operation: string, run: () => Promise<Result>): Promise<Result> {
    const matching = [...interruptions].filter(({ pattern }) => pattern.test(operation));
    for (const { before } of matching) await before();
    const result = await run();
    for (const { after } of matching) await after();
    return result;
  }
  const store: Store = {
    ...memory,
    get: (key) => around(`get ${key}`, () => memory.get(key)),
    set: (key, value, expiry) => around(`set ${key} ${value}`, () => memory.set(key, value, expiry)),
    replace: (key, seen, next, expiry) =>
      around(`replace ${key} ${next}`, () => memory.replace(key, seen, next, expiry)),
    add: (key, ...args) => around(`add ${key}`, () => memory.add(key, ...args)),
    addAll: (amounts) => around(`add ${amounts.map(({ key }) => key)}`, () => memory.addAll(amounts)),
  };
  const interrupt = (interruption: Interruption) => {
    interruptions.add(interruption);
    return () => interruptions.delete(interruption);
  };
  return {
    store,
    /** Holds back operations until the test calls the function that is returned. */
    hold(pattern: RegExp, fails = false): () => void {
      const { opened, open } = tGate();
      const before = async () => {
        await opened;
        if (fails) throw new StoreError('timed out');
      };
      const end = interrupt({ pattern, before, after: () => {} });
      return () => {
        end();
        open();
      };
    },
    /** The next such operation takes effect, but seems to have timed out. */
    loseAnswer(pattern: RegExp, afterMs = 0): void {
      const after = async () => {
        end();
        if (afterMs > 0) await new Promise((resolve) => setTimeout(resolve, afterMs));
        throw new StoreError('timed out');
      };
      const end = interrupt({ pattern, before: () => {}, after });
    },
    /** Happens before the next such operation. */
    interruptNext(pattern: RegExp, happen: () => void): void {
      const before = () => {
        end();
        happen();
      };
      const end = interrupt({ pattern, before, after: () => {} });
    },
    /** Such operations fail until the test calls the function that is returned. */
    fail(pattern: RegExp): () => void {
      const before = () => {
        throw new StoreError('timed out');
      };
      return interrupt({ pattern, before, after: () => {} });
    },
  };
}
