import type { Socket } from 'node:net';
import type { FastifyReply } from 'fastify';
import { errorCodeOf } from '../../errors.ts';
import type { Log } from '../../telemetry/log.ts';

/** Messages for requests that Fastify rejects, by its error code. */
const messages: Readonly<Record<string, string>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'The body must be JSON, sent with Content-Type: application/json.',
  FST_ERR_CTP_EMPTY_JSON_BODY: 'The body is empty; it must be a JSON object with description, mode and word_count.',
  FST_ERR_CTP_INVALID_JSON_BODY: 'The body is not well-formed JSON.',
  FST_ERR_CTP_BODY_TOO_LARGE: 'The body is too large; the maximum is 256 KiB. Shorten description.',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'The length of the body does not match its Content-Length.',
  FST_ERR_BAD_URL: 'The path is not a valid URL path.',
};

/**
 * Answers the error that the handler threw or Fastify reported. The API has only one status for invalid requests, 400,
 * whose message clients show; so 413 and 415 become 400.
 */
export function answerError(error: unknown, reply: FastifyReply, log: Log | undefined): FastifyReply {
  const message = messages[errorCodeOf(error) ?? ''];
  if (message) return reply.code(400).send({ error: message });
  // Only the message is logged: a stack or a cause may contain the request.
  log?.error({ reason: error instanceof Error ? error.message : 'unknown' }, 'an essay could not be written');
  return reply.code(500).send({ error: 'The essay could not be written. Try again.' });
}

/** Answers an invalid or late HTTP request, and closes the connection. */
export function answerInvalidHttp(error: Error, socket: Socket): void {
  if (!socket.writable || errorCodeOf(error) === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const body = '{"error":"The request is not valid HTTP, or did not arrive in time."}';
  const head = `HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nContent-Length: ${body.length}`;
  socket.end(`${head}\r\nConnection: close\r\n\r\n${body}`);
}
