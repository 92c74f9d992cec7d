import { PerformanceObserver } from 'node:perf_hooks';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';

/**
 * Makes V8 collect garbage earlier, as `--max-semi-space-size=4` and `--heap-growing-percent=50` would, which a process
 * cannot set for itself: V8 reads these flags whenever it is about to grow a part of the heap. By default, the young
 * generation grows to 32 MB, and the old one to more than twice its content.
 */
export function limitHeapGrowth(): void {
  setFlagsFromString('--heap-growing-percent=50');
  // V8 shrinks the young generation of an idle process, which must be able to grow again.
  const limitYoungGeneration = () => {
    const size = getHeapSpaceStatistics().find((space) => space.space_name === 'new_space')?.space_size ?? 0;
    setFlagsFromString(`--semi-space-growth-factor=${size < maxYoungBytes ? 2 : 1}`);
  };
  new PerformanceObserver(limitYoungGeneration).observe({ entryTypes: ['gc'] });
  limitYoungGeneration();
}

/** Of both halves together. */
const maxYoungBytes = 8 * 1_024 * 1_024;
