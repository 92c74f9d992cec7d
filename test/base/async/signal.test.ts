import { expect, test, vi } from 'vitest';
import { AbortableSignal } from '../../../src/base/async/signal.ts';

test('calls its listeners when it aborts, once, and passes the reason on', () => {
  const signal = new AbortableSignal();
  const [first, second, removed] = [vi.fn(), vi.fn(), vi.fn()];
  for (const listener of [first, second, removed]) signal.addEventListener('abort', listener);
  signal.removeEventListener('abort', removed);
  signal.throwIfAborted();
  signal.abort('closed');
  signal.abort('again');
  expect([first, second, removed].map(({ mock }) => mock.calls.length)).toEqual([1, 1, 0]);
  expect(signal).toMatchObject({ aborted: true, reason: 'closed' });
  expect(() => signal.throwIfAborted()).toThrow('closed');
});

test('does not call a listener that was added after it aborted', () => {
  const signal = new AbortableSignal();
  signal.abort('closed');
  const late = vi.fn();
  signal.addEventListener('abort', late);
  expect(late).not.toHaveBeenCalled();
});

test('does not call a listener that another one has removed', () => {
  const signal = new AbortableSignal();
  const [second, third] = [vi.fn(), vi.fn()];
  signal.addEventListener('abort', () => signal.removeEventListener('abort', second));
  signal.addEventListener('abort', second);
  signal.addEventListener('abort', third);
  signal.abort('closed');
  expect([second, third].map(({ mock }) => mock.calls.length)).toEqual([0, 1]);
});
