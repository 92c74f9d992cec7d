import type { Events } from './events.ts';

/**
 * Compares the clock with the time that has passed: after a step, counts belong to another month, and what is stored expires sooner or
 * later. A machine that was suspended looks the same. @returns a function that ends it
 */
export function watchClock(events: Pick<Events, 'clockStepped'>): () => void {
  let ahead = Date.now() - performance.now();
  const timer = setInterval(() => {
    const before = ahead;
    // Clocks also drift, by less than that between two looks.
    ahead = Date.now() - performance.now();
    if (Math.abs(ahead - before) > stepMs) events.clockStepped(Math.round((ahead - before) / 1_000));
  }, lookEveryMs).unref();
  return () => clearInterval(timer);
}

const stepMs = 60_000;
const lookEveryMs = 10_000;
