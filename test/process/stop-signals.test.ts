import { EventEmitter } from 'node:events';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { stopOnSignal } from '../../src/process/stop-signals.ts';

function tProcessSignals(delayMs: number) {
  const signals = new EventEmitter();
  const calls: string[] = [];
  const stop = async () => void calls.push('stop');
  stopOnSignal(signals, { delayMs, announce: () => calls.push('announce'), stop });
  return { signals, calls };
}

describe('a stop signal', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });

  it.each(['SIGTERM', 'SIGINT'])('%s is announced at once, and the process stops after the delay', (signal) => {
    const { signals, calls } = tProcessSignals(5_000);
    signals.emit(signal);
    vi.advanceTimersByTime(4_999);
    expect(calls).toEqual(['announce']);
    vi.advanceTimersByTime(1);
    expect(calls).toEqual(['announce', 'stop']);
  });

  it('ends the delay of an earlier one', () => {
    const { signals, calls } = tProcessSignals(5_000);
    signals.emit('SIGTERM');
    vi.advanceTimersByTime(101);
    signals.emit('SIGINT');
    expect(calls).toEqual(['announce', 'stop']);
    signals.emit('SIGTERM');
    vi.advanceTimersByTime(5_000);
    expect(calls).toEqual(['announce', 'stop']);
  });

  it('is counted once if it was forwarded twice', () => {
    const { signals, calls } = tProcessSignals(5_000);
    signals.emit('SIGTERM');
    vi.advanceTimersByTime(100);
    signals.emit('SIGTERM');
    expect(calls).toEqual(['announce']);
  });
});
