import { STATUS_CODES } from 'node:http';
import swagger from '@fastify/swagger';
import { type FastifyError, type FastifyInstance, type FastifyReply, fastify } from 'fastify';
import type { Log } from '../../telemetry/log.ts';
import { createKeyCheck } from '../key-check.ts';
import type { Query } from './answers/answer.ts';
import { type BankDirectory, createBankDirectory } from './directory/bank-directory.ts';
import { routes, toRouteSchema } from './routes.ts';

interface BankDataServiceOptions {
  /** What callers must send in the header `apikey`. */
  apiKey: string;
  /** Folder with imported bank directories; absent: the service knows what npm packages carry. */
  dataDir?: string;
  /** Gets faults of the service itself, and nothing about ordinary requests. */
  log?: Pick<Log, 'error'>;
}

/**
 * The self-hosted bank-data service. It answers as the hosted one does, in snake_case, every failure as `{message}`.
 * Fastify's own logger stays off: it writes the URL of a request, and its query string holds an IBAN.
 */
export function createBankDataService({ apiKey, dataDir, log }: BankDataServiceOptions): FastifyInstance {
  const isKey = createKeyCheck(apiKey);
  const refusal = (given: string | string[] | undefined) => {
    if (isKey(given)) return null;
    return given ? 'Invalid authentication credentials' : 'No API key found in request';
  };
  const directory = createBankDirectory(dataDir === undefined ? {} : { dataDir });
  const app = fastify({
    logger: false,
    // A path that cannot be decoded is met before any hook, so the key is checked here too.
    frameworkErrors: (_, request, reply) => {
      const message = refusal(request.headers.apikey);
      return message === null ? fail(reply, 404, noRoute) : fail(reply, 401, message);
    },
  });
  // The schemas describe; what is wrong with a parameter is told in the service's own words.
  app.setValidatorCompiler(() => () => true);
  app.setSerializerCompiler(() => JSON.stringify);

  app.addHook('onRequest', async (request, reply) => {
    const message = request.url === document ? null : refusal(request.headers.apikey);
    if (message !== null) return fail(reply, 401, message);
  });
  app.addHook('onClose', () => directory.close());
  app.setNotFoundHandler((_, reply) => fail(reply, 404, noRoute));
  app.setErrorHandler((error: FastifyError, _, reply) => {
    const status = error.statusCode ?? 500;
    if (status >= 400 && status < 500) return fail(reply, status, STATUS_CODES[status]);
    log?.error({ err: error }, 'a request to the bank-data service failed');
    return fail(reply, 500, STATUS_CODES[500]);
  });

  app.register(swagger, { openapi: { openapi: '3.1.0', info: INFO, components: { securitySchemes: security } } });
  app.register(async (scope) => addRoutes(scope, directory));
  return app;
}

/** Open to all: it holds no secret, and whoever has no key yet wants to read it. */
const document = '/openapi.json';
const noRoute = 'no Route matched with those values';
const INFO = {
  title: 'Bank data',
  description: 'Validates IBANs and SWIFT codes, tells how IBANs are built, generates them, and lists banks.',
  version: '1',
};
const security = { apikey: { type: 'apiKey', in: 'header', name: 'apikey' } } as const;

function addRoutes(app: FastifyInstance, directory: BankDirectory): void {
  for (const route of routes) {
    app.get<{ Querystring: Query }>(
      route.path,
      { schema: toRouteSchema(route) },
      ({ query, host, protocol }, reply) => {
        const { status, body } = route.answer(query, directory, `${protocol}://${host}${route.path}`);
        return reply.code(status).send(body);
      },
    );
  }
  app.get(document, { schema: { hide: true } }, () => app.swagger());
}

function fail(reply: FastifyReply, status: number, message = 'Request failed'): FastifyReply {
  return reply.code(status).send({ message });
}
