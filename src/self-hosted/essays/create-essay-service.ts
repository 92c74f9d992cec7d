import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify';
import type { Log } from '../../telemetry/log.ts';
import { createKeyCheck } from '../key-check.ts';
import { answerError, answerInvalidHttp } from './error-responses.ts';
import type { EssayWriter } from './essay-writer.ts';
import { createMonthlyAllowance } from './monthly-allowance.ts';
import { readWritingOrder } from './read-writing-order.ts';
import { countWords } from './words.ts';

interface EssayServiceOptions {
  /** Callers must send it in the header `token`. */
  apiKey: string;
  writer: EssayWriter;
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
  // At onRequest, before the body is read: callers without the key cannot make the service read one.
  app.post('/v2/generate/essay', { onRequest: checkToken }, generateEssay);
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
    try {
      const essay = await writer.write(reading.order, signal);
      return addAllowanceHeaders(reply).send({ essay, word_count: countWords(essay) });
    } catch (error) {
      reservation.release();
      // The caller disconnected: no response can be sent, and there is no error to log.
      if (signal.aborted) return reply.hijack();
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
