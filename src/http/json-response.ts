import type { ServerResponse } from 'node:http';
import type { ErrorCode } from '../errors.ts';

/** Sends an HTTP error in the format of GraphQL errors, so that clients need only one parser. */
export function sendError(response: ServerResponse, status: number, code: ErrorCode, message: string): void {
  const requestId = response.getHeader('x-request-id');
  const extensions = { code, service: null, retryable: status === 503, requestId };
  sendJson(response, status, { errors: [{ message, extensions }] });
}

export function sendJson(response: ServerResponse, status: number, body: object): void {
  // Neither errors nor health checks are cached: a shared cache would serve them to other clients of the same URL.
  const headers = { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' };
  response.writeHead(status, headers).end(JSON.stringify(body));
}
