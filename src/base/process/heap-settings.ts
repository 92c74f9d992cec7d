import { constants, type NodeGCPerformanceDetail, PerformanceObserver } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';

/** Sets how V8 collects garbage in this process. */
export function configureHeap(): void {
  // By default, V8 creates objects in the old generation if earlier ones of the same code survived while their requests
  // waited. There they stay until a full collection.
  setFlagsFromString('--no-allocation-site-pretenuring');
  // By default, V8 lets the old generation grow to more than twice its content, which the caches make large. At the first two
  // full collections it is small, and the next one would come soon.
  setGrowth(150);
  afterFullCollections(2, () => setGrowth(50));
}

/** How much the old generation may grow beyond its content until the next full collection, in percent. Each one reads it. */
function setGrowth(percent: number): void {
  setFlagsFromString(`--heap-growing-percent=${percent}`);
}

function afterFullCollections(count: number, callback: () => void): void {
  let left = count;
  const observer = new PerformanceObserver((list) => {
    left -= list.getEntries().filter(isFullCollection).length;
    if (left > 0) return;
    observer.disconnect();
    callback();
  });
  observer.observe({ entryTypes: ['gc'] });
}

/** The types of Node.js have no `detail` yet. */
function isFullCollection(entry: object & { detail?: NodeGCPerformanceDetail }): boolean {
  return entry.detail?.kind === constants.NODE_PERFORMANCE_GC_MAJOR;
}
