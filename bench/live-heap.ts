import { WebSocket } from 'undici';

/**
 * Heap in use after a full garbage collection, in MB, measured through the inspector
 * (https://chromedevtools.github.io/devtools-protocol/v8/).
 */
export async function measureLiveHeap(inspectorUrl: string): Promise<number> {
  const socket = new WebSocket(inspectorUrl);
  try {
    await new Promise((resolve, reject) => {
      socket.addEventListener('open', resolve);
      socket.addEventListener('error', reject);
    });
    await call(socket, 1, 'HeapProfiler.collectGarbage');
    const { usedSize = Number.NaN } = await call(socket, 2, 'Runtime.getHeapUsage');
    return usedSize / 1e6;
  } finally {
    socket.close();
  }
}

function call(socket: WebSocket, id: number, method: string): Promise<{ usedSize?: number }> {
  return new Promise((resolve, reject) => {
    socket.addEventListener('message', ({ data }) => {
      const message = JSON.parse(String(data));
      if (message.id === id) resolve(message.result ?? {});
    });
    socket.addEventListener('close', () => reject(new Error('the inspector closed the connection')));
    socket.send(JSON.stringify({ id, method }));
  });
}
