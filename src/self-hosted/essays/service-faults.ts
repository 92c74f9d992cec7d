import type { Socket } from 'node:net';
import type { FastifyReply } from 'fastify';
import { errorCodeOf } from '../../errors.ts';
import type { Log } from '../../telemetry/log.ts';

/** What is wrong with a request that never reached the handler, by Fastify's code for it. */
const complaints: Readonly<Record<string, string>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'The body must be JSON, sent with Content-Type: application/json.',
  FST_ERR_CTP_EMPTY_JSON_BODY: 'The body is empty; it must be a JSON object with description, mode and word_count.',
  FST_ERR_CTP_INVALID_JSON_BODY: 'The body is not well-formed JSON.',
  FST_ERR_CTP_BODY_TOO_LARGE: 'The body is too large; it may have 256 KiB. Shorten description.',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'The body is not as long as its Content-Length says.',
  FST_ERR_BAD_URL: 'The path is not a valid URL path.',
};

/**
 * Answers what the handler threw or Fastify refused. The contract knows one status for a bad request, 400, and clients
 * show its message; so 413 and 415 leave as 400 too.
 */
export function answerFault(error: unknown, reply: FastifyReply, log: Log | undefined): FastifyReply {
  const complaint = complaints[errorCodeOf(error) ?? ''];
  if (complaint) return reply.code(400).send({ error: complaint });
  // The message alone: a stack or a cause may quote what was sent.
  log?.error({ reason: error instanceof Error ? error.message : 'unknown' }, 'an essay could not be written');
  return reply.code(500).send({ error: 'The essay could not be written. Try again.' });
}

/** Answers bytes that are not an HTTP request, or not one in time, and closes the connection. */
export function answerBrokenRequest(error: Error, socket: Socket): void {
  if (!socket.writable || errorCodeOf(error) === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const body = '{"error":"The request is not valid HTTP, or did not arrive in time."}';
  const head = `HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nContent-Length: ${body.length}`;
  socket.end(`${head}\r\nConnection: close\r\n\r\n${body}`);
}
