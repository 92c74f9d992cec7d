import * as timers from 'node:timers';
import { afterEach, expect, vi } from 'vitest';

/*
 * For every test file. Workers run many of them, so what a test replaces must not remain. Spies are restored first: a spy
 * on a fake timer would put that timer back, and in later tests nothing that waits would ever end.
 */
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
  expect([setTimeout, clearTimeout]).toEqual([timers.setTimeout, timers.clearTimeout]);
});
