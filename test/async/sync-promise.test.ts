import { describe, expect, it, onTestFinished } from 'vitest';
import { SyncPromise } from '../../src/async/sync-promise.ts';

describe('a SyncPromise', () => {
  it('calls its continuations within the call that settles it', () => {
    const promise = new SyncPromise<number>();
    const results: number[] = [];
    promise
      .then((value) => value + 1)
      .then(null, () => 0)
      .then((value) => results.push(value));
    promise.resolve(1);
    expect(results).toEqual([2]);
  });

  it('passes reasons and exceptions to the first continuation that handles them', () => {
    const promise = new SyncPromise<number>();
    const reasons: unknown[] = [];
    promise
      .then(() => 'not called')
      .then(null, (reason) => {
        reasons.push(reason);
        throw new Error('second');
      })
      .then(
        () => 'not called',
        (reason) => reasons.push(reason),
      );
    promise.reject('first');
    expect(reasons).toEqual(['first', new Error('second')]);
  });

  it('settles once', async () => {
    const promise = new SyncPromise<number>();
    promise.resolve(1);
    promise.resolve(2);
    promise.reject('late');
    expect(await promise).toBe(1);
  });

  it('follows a promise that a continuation returns', async () => {
    const first = new SyncPromise<number>();
    const second = new SyncPromise<number>();
    const sum = first.then((value) => second.then(async (other) => value + other));
    first.resolve(1);
    second.resolve(2);
    expect(await sum).toBe(3);
    const failing = new SyncPromise<number>();
    const failed = failing.then(() => Promise.reject(new Error('rejected')));
    failing.resolve(1);
    await expect(failed).rejects.toThrow('rejected');
  });

  it('rejects if a continuation returns a promise that cannot be followed', async () => {
    const followed = new SyncPromise<number>();
    followed.then(() => {});
    const promise = new SyncPromise<number>();
    const result = promise.then(() => followed);
    promise.resolve(1);
    await expect(result).rejects.toThrow('one continuation');
  });

  it('calls a continuation that is attached later in a microtask: tasks that start the next one are no recursion', async () => {
    let tasks = 0;
    await new Promise<void>((resolve) => {
      const runTask = () => {
        const promise = new SyncPromise<void>();
        promise.resolve();
        promise.then(() => {
          tasks += 1;
          if (tasks < 100_000) runTask();
          else resolve();
        });
      };
      runTask();
      expect(tasks).toBe(0);
    });
    expect(tasks).toBe(100_000);
  });

  it('refuses a second continuation, which it would not call', () => {
    const promise = new SyncPromise<number>();
    promise.then(() => {});
    expect(() => promise.then(() => {})).toThrow('one continuation');
  });

  it('reports a rejection that nothing handles, and only such a one', async () => {
    const unhandled: unknown[] = [];
    const others = process.listeners('unhandledRejection');
    const record = (reason: unknown) => unhandled.push(reason);
    process.removeAllListeners('unhandledRejection').on('unhandledRejection', record);
    onTestFinished(() => {
      process.off('unhandledRejection', record);
      for (const other of others) process.on('unhandledRejection', other);
    });
    const handled = new SyncPromise<number>();
    handled.reject('handled');
    handled.then(null, () => {});
    const forgotten = new SyncPromise<number>();
    forgotten.then(() => {});
    forgotten.reject('forgotten');
    await new Promise((resolve) => setImmediate(resolve));
    expect(unhandled).toEqual(['forgotten']);
  });
});
