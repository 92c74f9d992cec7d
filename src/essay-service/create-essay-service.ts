import type { Socket } from 'node:net';
import swagger from '@fastify/swagger';
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify';
import { errorCodeOf } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import { createKeyCheck } from '../base/rest-service.ts';
import { countWords } from '../base/words.ts';
import { essaySchema, openapi } from './document.ts';
import { acceptsLines, createLines } from './lines.ts';
import { createMonthlyAllowance } from './monthly-allowance.ts';
import { readWritingOrder, type Writer } from './writing-order.ts';

interface EssayServiceOptions {
  /** Callers must send it in the header `token`. */
  apiKey: string;
  writer: Writer;
  /** Essays per calendar month (UTC); null for no limit. */
  monthlyAllowance: number | null;
  log?: Log;
}

/** The HTTP API of the essay service in front of a writer. Every failure has the body `{ error }`. */
export function createEssayService({ apiKey, writer, monthlyAllowance, log }: EssayServiceOptions): FastifyInstance {
  const app = fastify({
    bodyLimit: maxBodyBytes,
    requestTimeout: requestTimeoutMs,
    routerOptions: { ignoreTrailingSlash: true },
    // While closing, requests on open connections are answered as usual, not with Fastify's own 503 body.
    return503OnClosing: false,
    frameworkErrors: (error, _request, reply) => answerError(error, reply, log),
    clientErrorHandler: answerInvalidHttp,
  });
  const allowance = createMonthlyAllowance(monthlyAllowance);
  const isKey = createKeyCheck(apiKey);

  // Otherwise the handler would receive text/plain bodies as strings.
  app.removeContentTypeParser('text/plain');
  app.setErrorHandler((error, _request, reply) => answerError(error, reply, log));
  app.setNotFoundHandler((_request, reply) =>
    reply.code(404).send({ error: 'There is nothing at this path. Request essays with POST /v2/generate/essay/.' }),
  );
  // The schema only documents the endpoint.
  app.setValidatorCompiler(() => () => true);
  app.setSerializerCompiler(() => JSON.stringify);
  app.register(swagger, { openapi });
  app.register(async (scope) => {
    // At onRequest, before the body is read: callers without the key cannot make the service read one.
    scope.post('/v2/generate/essay', { onRequest: checkToken, schema: essaySchema }, generateEssay);
    scope.get('/openapi.json', { schema: { hide: true } }, () => scope.swagger());
  });
  return app;

  async function checkToken(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    if (isKey(request.headers.token)) return;
    await reply.code(401).send({ error: 'Invalid token.' });
  }

  async function generateEssay(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const reading = readWritingOrder(request.body);
    if (reading.kind === 'invalid') return reply.code(400).send({ error: reading.message });
    const reservation = allowance.reserve();
    if (!reservation) return sendAllowanceExhausted(reply);
    const signal = disconnectSignal(reply);
    const lines = acceptsLines(request.headers.accept) ? createLines(addAllowanceHeaders(reply)) : null;
    try {
      const essay = await writer.write(reading.order, signal, lines?.addText);
      const answer = { essay, word_count: countWords(essay), writer: writer.kind };
      return lines ? lines.end(answer) : addAllowanceHeaders(reply).send(answer);
    } catch (error) {
      reservation.release();
      // The caller disconnected: no response can be sent, and there is no error to log.
      if (signal.aborted) return reply.hijack();
      if (lines?.hasBegun()) return lines.end(describeFailure(error, log));
      addAllowanceHeaders(reply);
      throw error;
    }
  }

  function sendAllowanceExhausted(reply: FastifyReply): FastifyReply {
    const state = allowance.state();
    const renewal = state ? ` It renews at ${state.renewsAt.toISOString().replace('.000', '')}.` : '';
    if (state) reply.header('retry-after', state.renewsInSeconds);
    return addAllowanceHeaders(reply)
      .code(429)
      .send({ error: `This month's allowance is used up.${renewal}` });
  }

  function addAllowanceHeaders(reply: FastifyReply): FastifyReply {
    const state = allowance.state();
    if (!state) return reply;
    return reply.headers({ 'x-ratelimit-limit-month': state.limit, 'x-ratelimit-remaining-month': state.remaining });
  }
}

/** Enough for a description of 10,000 characters, even if all of them are escaped. */
const maxBodyBytes = 256 * 1024;
/** For the whole request to arrive. */
const requestTimeoutMs = 30_000;

/** Fires when the caller disconnects before the answer is sent. `close` of the request fires once its body is read. */
function disconnectSignal(reply: FastifyReply): AbortSignal {
  const controller = new AbortController();
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) controller.abort();
  });
  // The caller may have disconnected while its body was read.
  if (reply.raw.destroyed) controller.abort();
  return controller.signal;
}

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
function answerError(error: unknown, reply: FastifyReply, log: Log | undefined): FastifyReply {
  const message = messages[errorCodeOf(error) ?? ''];
  if (message) return reply.code(400).send({ error: message });
  return reply.code(500).send(describeFailure(error, log));
}

function describeFailure(error: unknown, log: Log | undefined): { error: string } {
  // Only the message is logged: a stack or a cause may contain the request.
  log?.error({ reason: error instanceof Error ? error.message : 'unknown' }, 'an essay could not be written');
  return { error: 'The essay could not be written. Try again.' };
}

/** Answers an invalid or late HTTP request, and closes the connection. */
function answerInvalidHttp(error: Error, socket: Socket): void {
  if (!socket.writable || errorCodeOf(error) === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const body = '{"error":"The request is not valid HTTP, or did not arrive in time."}';
  const head = `HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nContent-Length: ${body.length}`;
  socket.end(`${head}\r\nConnection: close\r\n\r\n${body}`);
}
