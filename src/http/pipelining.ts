import type { RequestListener } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Handles the requests of a connection one after the other, because Node.js emits all pipelined ones at once.
 * @param maxRequests of one connection that are being handled or wait; the next one closes the connection
 */
export function withPipelineLimit(listener: RequestListener, maxRequests: number): RequestListener {
  const queues = new WeakMap<Socket, (() => void)[]>();
  return (request, response) => {
    const { socket } = request;
    if (socket.destroyed) return;
    const queue = queues.get(socket) ?? [];
    queues.set(socket, queue);
    const handle = () => {
      response.once('close', () => {
        queue.shift();
        if (!socket.destroyed) queue[0]?.();
      });
      listener(request, response);
    };
    if (queue.push(handle) > maxRequests) socket.destroy();
    else if (queue.length === 1) handle();
  };
}
