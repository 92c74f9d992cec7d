import { STATUS_CODES } from 'node:http';
import swagger from '@fastify/swagger';
import { type FastifyError, type FastifyInstance, type FastifyReply, fastify } from 'fastify';
import type { Log } from '../base/log.ts';
import { createKeyCheck } from '../base/rest-service.ts';
import type { Query } from './answers/answer.ts';
import { type BankDirectory, createBankDirectory } from './bank-directory.ts';
import { routes, toRouteSchema } from './routes.ts';

interface BankDataServiceOptions {
  /** Callers must send it in the header `apikey`. */
  apiKey: string;
  /** Folder with imported bank directories; without it the service has only the lists in the package. */
  dataDir?: string;
  /** Logs internal errors only, and nothing about ordinary requests. */
  log?: Pick<Log, 'error'>;
}

/**
 * The self-hosted bank-data service, compatible with the hosted one. Every failure has the body `{message}`.
 * Fastify's own logger is off: it would log URLs, and their query strings contain IBANs.
 */
export function createBankDataService({ apiKey, dataDir, log }: BankDataServiceOptions): FastifyInstance {
  const isKey = createKeyCheck(apiKey);
  const findKeyProblem = (key: string | string[] | undefined) => {
    if (isKey(key)) return null;
    return key ? 'Invalid authentication credentials' : 'No API key found in request';
  };
  const directory = createBankDirectory(dataDir === undefined ? {} : { dataDir });
  const app = fastify({
    logger: false,
    // A path that cannot be decoded fails before any hook, so the key is checked here too.
    frameworkErrors: (_, request, reply) => {
      const message = findKeyProblem(request.headers.apikey);
      return message === null ? fail(reply, 404, noRoute) : fail(reply, 401, message);
    },
  });
  // The schemas only document the routes; the routes validate parameters themselves.
  app.setValidatorCompiler(() => () => true);
  app.setSerializerCompiler(() => JSON.stringify);

  app.addHook('onRequest', async (request, reply) => {
    const message = publicPaths.includes(request.url) ? null : findKeyProblem(request.headers.apikey);
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

  app.register(swagger, { openapi: { openapi: '3.1.0', info, components: { securitySchemes: security } } });
  app.register(async (scope) => addRoutes(scope, directory));
  return app;
}

const documentPath = '/openapi.json';
const versionPath = '/data-version';
/** They need no key: they contain no secret. */
const publicPaths = [documentPath, versionPath];
/** A header of each answer: callers that cache answers drop all of another version. */
const versionHeader = 'x-bank-data-version';
const noRoute = 'no Route matched with those values';
const info = {
  title: 'Bank data',
  description: 'Validates IBANs and SWIFT codes, describes IBAN formats, generates IBANs and lists banks.',
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
        return reply.code(status).header(versionHeader, directory.version()).send(body);
      },
    );
  }
  app.get(documentPath, { schema: { hide: true } }, () => app.swagger());
  app.get(versionPath, { schema: { hide: true } }, (_, reply) =>
    reply.code(204).header(versionHeader, directory.version()).send(),
  );
}

function fail(reply: FastifyReply, status: number, message = 'Request failed'): FastifyReply {
  return reply.code(status).send({ message });
}
