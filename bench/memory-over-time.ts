import { setTimeout as sleep } from 'node:timers/promises';
import { formatTable, percentile } from './figures.ts';
import type { GatewayProcess, Memory } from './gateway-process.ts';

interface Sample extends Memory {
  second: number;
  questions: number;
  files: number;
  sockets: number;
}

interface MemoryOverTimeOptions {
  gateway: GatewayProcess;
  /** When memory is told, in seconds from now, in ascending order. */
  marks: readonly number[];
  /** Garbage collection makes memory go up and down; each mark tells the median of so many seconds up to it. */
  windowSeconds: number;
  questions: () => number;
  /** Whether the heap in use is measured at every mark; else once, at the end. */
  isLiveHeapWanted: boolean;
}

/** Looks at the memory and the open files of a gateway once a second. */
export function watchMemory({ gateway, marks, windowSeconds, questions, isLiveHeapWanted }: MemoryOverTimeOptions) {
  const startedAt = performance.now();
  const samples: Sample[] = [];
  const liveHeaps: string[] = [];
  const sampling = setInterval(() => samples.push(sample()), 1_000);

  return {
    /** To be awaited beside the load. */
    async measureLiveHeaps(): Promise<void> {
      for (const mark of isLiveHeapWanted ? marks : []) {
        await sleep(Math.max(0, startedAt + mark * 1_000 - performance.now()));
        liveHeaps.push(formatMb(await gateway.liveHeap()));
      }
    },
    stop: () => clearInterval(sampling),
    rssAt,
    /** The highest from that second on. */
    highestRssFrom: (second: number) =>
      Math.max(...samples.filter((seen) => seen.second > second).map(({ rss }) => rss)),
    /** All marks, and how things stand now that nobody asks any more. */
    async formatWithIdle(): Promise<string> {
      const idle = sample();
      const rows = marks.map((mark, index) => [mark, ...formatAt(mark), liveHeaps[index] ?? '']);
      return formatTable(columns, [...rows, ['idle', ...formatSample(idle), formatMb(await gateway.liveHeap())]]);
    },
  };

  function sample(): Sample {
    const memory = gateway.memory() ?? { rss: Number.NaN, anonymous: Number.NaN, file: Number.NaN };
    const { all: files, sockets } = gateway.openFiles() ?? { all: Number.NaN, sockets: Number.NaN };
    return { second: (performance.now() - startedAt) / 1_000, questions: questions(), ...memory, files, sockets };
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
      window.map((seen) => seen[name]),
      0.5,
    );
  }
}

const columns = [
  'second',
  'questions',
  'RSS MB',
  'heap and buffers MB',
  'mapped files MB',
  'open files',
  'sockets',
  'heap in use MB',
];

function formatSample({ questions, rss, anonymous, file, files, sockets }: Sample): (string | number)[] {
  return [questions, formatMb(rss), formatMb(anonymous), formatMb(file), files, sockets];
}

export function formatMb(value: number): string {
  return value.toFixed(1);
}
