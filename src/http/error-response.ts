import type { ServerResponse } from 'node:http';
import type { ErrorCode } from '../errors.ts';

/** Errors of the door look like GraphQL's, so that clients need one way of reading them. */
export function sendError(response: ServerResponse, status: number, code: ErrorCode, message: string): void {
  const requestId = response.getHeader('x-request-id');
  answerJson(response, status, {
    errors: [{ message, extensions: { code, service: null, retryable: false, requestId } }],
  });
}

export function answerJson(response: ServerResponse, status: number, body: object): void {
  // A shared cache must not have one client's refusal for another's answer: both are asked for by the same URL.
  const headers = { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' };
  response.writeHead(status, headers).end(JSON.stringify(body));
}
