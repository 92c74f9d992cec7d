import { EventEmitter } from 'node:events';
import { expect, it, vi } from 'vitest';
import { stopOnSignal } from '../../../src/base/process/stop-signals.ts';

/** Records what happens when signals arrive, each after a time in milliseconds. */
function callsAfter(...steps: [waitMs: number, signal?: string][]) {
  vi.useFakeTimers();
  const signals = new EventEmitter();
  const calls: string[] = [];
  const stop = async () => void calls.push('stop');
  stopOnSignal(signals, { delayMs: 5_000, announce: () => calls.push('announce'), stop });
  for (const [waitMs, signal] of steps) {
    vi.advanceTimersByTime(waitMs);
    if (signal) signals.emit(signal);
  }
  return calls;
}

it.each(['SIGTERM', 'SIGINT'])('%s is announced at once, and the process stops after the delay', (signal) => {
  expect(callsAfter([0, signal], [4_999])).toEqual(['announce']);
  expect(callsAfter([0, signal], [5_000])).toEqual(['announce', 'stop']);
});

it('a second signal ends the delay, unless it was only forwarded twice', () => {
  expect(callsAfter([0, 'SIGTERM'], [100, 'SIGTERM'])).toEqual(['announce']);
  expect(callsAfter([0, 'SIGTERM'], [101, 'SIGINT'])).toEqual(['announce', 'stop']);
  expect(callsAfter([0, 'SIGTERM'], [101, 'SIGINT'], [0, 'SIGTERM'], [5_000])).toEqual(['announce', 'stop']);
});
