import { setTimeout as sleep } from 'node:timers/promises';
import type { GatewayProcess, Memory } from './gateway-process.ts';
import { measureLiveHeap } from './inspector.ts';
import { formatTable, formatTenths, percentile } from './report.ts';

interface Sample extends Memory {
  second: number;
  requests: number;
  files: number;
  sockets: number;
}

interface MemoryOverTimeOptions {
  gateway: GatewayProcess;
  /** When to report memory, in seconds from now, in ascending order. */
  marks: readonly number[];
  /** Each mark reports the median of this window before it, because garbage collection causes fluctuations. */
  windowSeconds: number;
  requests: () => number;
  /** Whether to measure the heap in use at every mark, not only at the end. */
  isLiveHeapWanted: boolean;
}

/** Samples the memory and the open files of a gateway every second. */
export function watchMemory({ gateway, marks, windowSeconds, requests, isLiveHeapWanted }: MemoryOverTimeOptions) {
  const startedAt = performance.now();
  const samples: Sample[] = [];
  const liveHeaps: string[] = [];
  const sampling = setInterval(() => samples.push(sample()), 1_000);

  return {
    /** Runs in parallel with the load. */
    async measureLiveHeaps(): Promise<void> {
      for (const mark of isLiveHeapWanted ? marks : []) {
        await sleep(Math.max(0, startedAt + mark * 1_000 - performance.now()));
        liveHeaps.push(formatTenths(await gateway.inspect(measureLiveHeap)));
      }
    },
    stop: () => clearInterval(sampling),
    rssAt,
    /** Heap and buffers. */
    heapAt: (mark: number) => medianAt(mark, 'anonymous'),
    maxRssAfter: (second: number) => Math.max(...samples.filter((each) => each.second > second).map(({ rss }) => rss)),
    /** All marks, and the current values after the load. */
    async formatWithIdle(): Promise<string> {
      const idle = sample();
      const rows = marks.map((mark, index) => [mark, ...formatAt(mark), liveHeaps[index] ?? '']);
      return formatTable(columns, [
        ...rows,
        ['idle', ...formatSample(idle), formatTenths(await gateway.inspect(measureLiveHeap))],
      ]);
    },
  };

  function sample(): Sample {
    const memory = gateway.memory() ?? { rss: Number.NaN, anonymous: Number.NaN, file: Number.NaN };
    const { all: files, sockets } = gateway.openFiles() ?? { all: Number.NaN, sockets: Number.NaN };
    return { second: (performance.now() - startedAt) / 1_000, requests: requests(), ...memory, files, sockets };
  }

  function formatAt(mark: number): (string | number)[] {
    const last = samples.findLast(({ second }) => second <= mark + 0.5) ?? sample();
    const [rss, anonymous, file] = [rssAt(mark), medianAt(mark, 'anonymous'), medianAt(mark, 'file')];
    return formatSample({ ...last, rss, anonymous, file });
  }

  function rssAt(mark: number): number {
    return medianAt(mark, 'rss');
  }

  function medianAt(mark: number, name: keyof Memory): number {
    const [from, to] = [mark + 0.5 - windowSeconds, mark + 0.5];
    const window = samples.filter(({ second }) => second > from && second <= to);
    return percentile(
      window.map((each) => each[name]),
      0.5,
    );
  }
}

const columns = [
  'second',
  'requests',
  'RSS MB',
  'heap and buffers MB',
  'mapped files MB',
  'open files',
  'sockets',
  'heap in use MB',
];

function formatSample({ requests, rss, anonymous, file, files, sockets }: Sample): (string | number)[] {
  return [requests, formatTenths(rss), formatTenths(anonymous), formatTenths(file), files, sockets];
}
