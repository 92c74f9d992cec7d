import { WebSocket } from 'undici';

export interface Inspector {
  /** Calls a method: https://chromedevtools.github.io/devtools-protocol/v8/ */
  call<Result = unknown>(method: string, params?: object): Promise<Result>;
  close(): void;
}

export async function connectInspector(url: string): Promise<Inspector> {
  const socket = new WebSocket(url);
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve);
    socket.addEventListener('error', reject);
  });
  const calls = new Map<number, { resolve: (result: never) => void; reject: (error: Error) => void }>();
  let lastId = 0;
  socket.addEventListener('message', ({ data }) => {
    const { id, result, error } = JSON.parse(String(data));
    if (error) calls.get(id)?.reject(new Error(error.message));
    else calls.get(id)?.resolve(result as never);
    calls.delete(id);
  });
  socket.addEventListener('close', () => {
    for (const { reject } of calls.values()) reject(new Error('the inspector closed the connection'));
  });
  return {
    call<Result>(method: string, params: object = {}) {
      lastId += 1;
      const id = lastId;
      return new Promise<Result>((resolve, reject) => {
        calls.set(id, { resolve, reject });
        socket.send(JSON.stringify({ id, method, params }));
      });
    },
    close: () => socket.close(),
  };
}

/** Heap in use after a full garbage collection, in MB. The collection also lowers the resident memory. */
export async function measureLiveHeap({ call }: Inspector): Promise<number> {
  await call('HeapProfiler.collectGarbage');
  const { usedSize } = await call<{ usedSize: number }>('Runtime.getHeapUsage');
  return usedSize / 1e6;
}

interface Profile {
  nodes: { id: number; callFrame: { functionName: string }; children?: number[] }[];
  /** The node of each sample. */
  samples: number[];
  /** In µs, before each sample. */
  timeDeltas: number[];
}

/**
 * Runs a task while the process is profiled.
 * @returns the share of the time in which the process was not idle, from 0 to 1, that it spent in these functions and all
 *   that they call
 */
export async function profileShare(
  { call }: Inspector,
  functions: ReadonlySet<string>,
  task: () => Promise<unknown>,
): Promise<number> {
  await call('Profiler.enable');
  await call('Profiler.setSamplingInterval', { interval: 500 });
  await call('Profiler.start');
  await task();
  const { profile } = await call<{ profile: Profile }>('Profiler.stop');
  await call('Profiler.disable');
  return shareOf(functions, profile);
}

function shareOf(functions: ReadonlySet<string>, { nodes, samples, timeDeltas }: Profile): number {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const within = new Set<number>();
  const add = (id: number) => {
    within.add(id);
    for (const child of byId.get(id)?.children ?? []) add(child);
  };
  for (const { id, callFrame } of nodes) if (functions.has(callFrame.functionName)) add(id);
  const idle = nodes.find(({ callFrame }) => callFrame.functionName === '(idle)')?.id;
  let [busyUs, withinUs] = [0, 0];
  for (const [index, id] of samples.entries()) {
    const us = timeDeltas[index] ?? 0;
    if (id !== idle) busyUs += us;
    if (within.has(id)) withinUs += us;
  }
  return withinUs / busyUs;
}
