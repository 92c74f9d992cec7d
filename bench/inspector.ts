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
