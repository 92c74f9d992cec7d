import { type Send, shed } from './operation.ts';

/** Sheds an attempt that its operation no longer permits. Inside the queue, so that the answer is not outdated. */
export function withPermission(send: Send): Send {
  return async (request, deadline) => {
    const isPermitted = request.maySend === undefined || (await request.maySend());
    return isPermitted ? send(request, deadline) : shed;
  };
}
