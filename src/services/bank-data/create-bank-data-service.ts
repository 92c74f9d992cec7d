import { STATUS_CODES } from 'node:http';
import { type FastifyError, type FastifyInstance, type FastifyReply, fastify } from 'fastify';
import type { Log } from '../../telemetry/log.ts';
import { createBankDirectory } from './directory.ts';
import { answerIbanValidation } from './iban-validation.ts';
import { createKeyCheck } from './key-check.ts';

interface BankDataServiceOptions {
  /** What callers must send in the header `apikey`. */
  apiKey: string;
  /** Gets faults of the service itself, and nothing about ordinary requests. */
  log?: Pick<Log, 'error'>;
}

/**
 * The self-hosted bank-data service. It answers as the hosted one does, in snake_case, every failure as `{message}`.
 * Fastify's own logger stays off: it writes the URL of a request, and its query string holds an IBAN.
 */
export function createBankDataService({ apiKey, log }: BankDataServiceOptions): FastifyInstance {
  const refusal = createKeyCheck(apiKey);
  const directory = createBankDirectory();
  const app = fastify({
    logger: false,
    // A path that cannot be decoded is met before any hook, so the key is checked here too.
    frameworkErrors: (_, request, reply) => {
      const message = refusal(request.headers.apikey);
      return message === null ? fail(reply, 404, NO_ROUTE) : fail(reply, 401, message);
    },
  });

  app.addHook('onRequest', async (request, reply) => {
    const message = refusal(request.headers.apikey);
    if (message !== null) return fail(reply, 401, message);
  });

  app.setNotFoundHandler((_, reply) => fail(reply, 404, NO_ROUTE));

  app.setErrorHandler((error: FastifyError, _, reply) => {
    const status = error.statusCode ?? 500;
    if (status >= 400 && status < 500) return fail(reply, status, STATUS_CODES[status]);
    log?.error({ err: error }, 'a request to the bank-data service failed');
    return fail(reply, 500, STATUS_CODES[500]);
  });

  app.get<{ Querystring: { iban_number?: unknown } }>('/bank_data/iban_validate', (request, reply) => {
    const { status, body } = answerIbanValidation(request.query.iban_number, directory);
    return reply.code(status).send(body);
  });

  return app;
}

const NO_ROUTE = 'no Route matched with those values';

function fail(reply: FastifyReply, status: number, message = 'Request failed'): FastifyReply {
  return reply.code(status).send({ message });
}
