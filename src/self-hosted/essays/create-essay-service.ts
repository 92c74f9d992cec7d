import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify';
import type { Log } from '../../telemetry/log.ts';
import { createKeyCheck } from '../key-check.ts';
import type { EssayWriter } from './essay-writer.ts';
import { createMonthlyAllowance } from './monthly-allowance.ts';
import { readEssayOrder } from './read-essay-order.ts';
import { answerBrokenRequest, answerFault } from './service-faults.ts';
import { countWords } from './words.ts';

interface EssayServiceOptions {
  /** What callers must send as `token`. */
  apiKey: string;
  writer: EssayWriter;
  /** Essays per calendar month (UTC); null: as many as one likes. */
  monthlyAllowance: number | null;
  now?: () => Date;
  log?: Log;
}

/** A description of 10,000 characters fits, even with every one of them escaped. */
const maxBodyBytes = 256 * 1024;
/** How long a caller may take to send its request. */
const requestTimeoutMs = 30_000;

/** The essay service's HTTP contract in front of a writer. Every failure leaves as `{ error }`. */
export function createEssayService({
  apiKey,
  writer,
  monthlyAllowance,
  now = () => new Date(),
  log,
}: EssayServiceOptions): FastifyInstance {
  const app = fastify({
    bodyLimit: maxBodyBytes,
    requestTimeout: requestTimeoutMs,
    routerOptions: { ignoreTrailingSlash: true },
    // While closing, what still arrives on an open connection is answered as usual, not by Fastify's own 503 body.
    return503OnClosing: false,
    frameworkErrors: (error, _request, reply) => answerFault(error, reply, log),
    clientErrorHandler: answerBrokenRequest,
  });
  const allowance = createMonthlyAllowance({ limit: monthlyAllowance, now });
  const isKey = createKeyCheck(apiKey);

  // Left out, text/plain bodies would be read as strings and reach the handler.
  app.removeContentTypeParser('text/plain');
  app.setErrorHandler((error, _request, reply) => answerFault(error, reply, log));
  app.setNotFoundHandler((_request, reply) =>
    reply.code(404).send({ error: 'Nothing is served here. Essays are written by POST /v2/generate/essay/.' }),
  );
  // At onRequest the body has not been read yet: a stranger cannot make the service take one in.
  app.post('/v2/generate/essay', { onRequest: checkToken }, generateEssay);
  return app;

  async function checkToken(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    if (isKey(request.headers.token)) return;
    await reply.code(401).send({ error: 'Invalid token.' });
  }

  async function generateEssay(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const reading = readEssayOrder(request.body);
    if (reading.kind === 'refused') return reply.code(400).send({ error: reading.complaint });
    const reservation = allowance.reserve();
    if (!reservation) return refuseForTheMonth(reply);
    const signal = signalOfHangUp(reply);
    try {
      const essay = await writer.write(reading.order, signal);
      return stateAllowance(reply).send({ essay, word_count: countWords(essay) });
    } catch (error) {
      reservation.giveBack();
      // Nobody is left to be told, and the writer did nothing wrong.
      if (signal.aborted) return reply.hijack();
      stateAllowance(reply);
      throw error;
    }
  }

  function refuseForTheMonth(reply: FastifyReply): FastifyReply {
    const status = allowance.status();
    const renewal = status ? ` It renews at ${status.renewsAt.toISOString().replace('.000', '')}.` : '';
    if (status) reply.header('retry-after', status.renewsInSeconds);
    return stateAllowance(reply)
      .code(429)
      .send({ error: `This month's allowance is used up.${renewal}` });
  }

  function stateAllowance(reply: FastifyReply): FastifyReply {
    const status = allowance.status();
    if (!status) return reply;
    return reply.headers({
      'x-ratelimit-limit-month': status.limit,
      'x-ratelimit-remaining-month': status.remaining,
    });
  }
}

/** Fires when the caller goes away before its answer is out. A request's own `close` fires once its body is read. */
function signalOfHangUp(reply: FastifyReply): AbortSignal {
  const controller = new AbortController();
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) controller.abort();
  });
  // The caller may be gone already, while its body was being read.
  if (reply.raw.destroyed) controller.abort();
  return controller.signal;
}
