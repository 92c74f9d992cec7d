import type { DestinationStream } from 'pino';
import { createAccess } from './auth/access.ts';
import { createBankData } from './bank-data/create-bank-data.ts';
import { createKnownBanks, type KnownBanks } from './bank-lists/known-banks.ts';
import type { Config, Upstreams } from './config/gateway-config.ts';
import { listSecrets } from './config/list-secrets.ts';
import { createTrustedDocuments } from './documents/trusted-documents.ts';
import { withIdempotency } from './essays/idempotency/idempotency.ts';
import { withOrderPrecheck } from './essays/precheck.ts';
import { createRestEssays } from './essays/rest/rest-essays.ts';
import { createContext } from './graphql/context.ts';
import { createGraphqlHandler } from './graphql/graphql-handler.ts';
import { schema } from './graphql/schema/schema.ts';
import { createGraphiql } from './http/graphiql.ts';
import { createRequestHandler } from './http/request-handler.ts';
import { createHttpServer } from './http/server.ts';
import { closeOnError, openStore } from './stores/open-store.ts';
import { createEvents } from './telemetry/events.ts';
import { createLog } from './telemetry/log.ts';
import { createRedact } from './telemetry/redact.ts';
import { createUpstreamFactory } from './upstream/upstream.ts';

interface GatewayOptions {
  logDestination?: DestinationStream;
  /** Several gateways of one process can share the lists. */
  knownBanks?: KnownBanks;
}

/** Creates all parts and connects them. The only function that receives the whole configuration. */
export function createGateway(
  config: Config,
  upstreams: Upstreams,
  { logDestination = process.stderr, knownBanks = createKnownBanks() }: GatewayOptions = {},
) {
  const secrets = listSecrets(config, upstreams);
  const redact = createRedact(secrets);
  const events = createEvents(createLog({ level: config.logLevel, redact, destination: logDestination }));
  const trustedDocuments =
    config.trustedDocuments && createTrustedDocuments({ config: config.trustedDocuments, events });
  const { store, isShared, isUp, onRecovered } = openStore(config.store, config.dataDir, events);
  const access = closeOnError(store, () =>
    createAccess({ access: config.access, storeConfig: config.store, store, events }),
  );

  const replicas = isShared ? config.store.replicas : null;
  const createUpstream = createUpstreamFactory({ config, store, replicas, secrets, events });
  const bankDataUpstream = createUpstream('bank-data', upstreams.bankData, 'apikey', config.bankData);
  const { freshMs, maxAgeMs, cacheMaxBytes } = config.bankData;
  const keptReplyBytes = cacheMaxBytes / 8;
  const { upstreamConcurrency: maxRunning, upstreamQueue: maxWaiting } = config;
  const { bankData, dataVersion } = createBankData({
    url: upstreams.bankData.url,
    client: bankDataUpstream.client,
    sharedStore: isShared ? store : null,
    limits: { maxRunning, maxWaiting, freshMs, maxAgeMs, maxBytes: cacheMaxBytes - keptReplyBytes },
    events,
  });

  const essaysUpstream = createUpstream('essays', upstreams.essays, 'token', config.essays);
  const { modeNames, textField, keepDays } = config.essays;
  const restEssays = createRestEssays({ client: essaysUpstream.client, modeNames, textField, redact, events });
  const idempotentEssays = withIdempotency(restEssays, { store, onRecovered, keepDays, events });

  const allowances = [bankDataUpstream.allowance, essaysUpstream.allowance];
  const services = {
    bankData,
    essays: withOrderPrecheck(idempotentEssays),
    essayArchive: idempotentEssays.archive,
    allowances: () => Promise.all(allowances.map((allowance) => allowance.status())),
    budgets: access.budgets,
    isKnownBank: knownBanks.has,
  };
  const { maxIbansPerQuery, maxEssaysPerQuery: essays, maxEntitiesPerQuery: entities } = config;
  const limits = { ibans: maxIbansPerQuery, bics: maxIbansPerQuery, bankQueries: 20, essayTexts: 20, essays, entities };
  const graphql = createGraphqlHandler({
    schema,
    createContext: (caller, signal) => createContext(services, limits, caller, signal),
    localCaller: access.localCaller,
    hasCallers: access.hasCallers,
    trustedDocuments,
    documentLimits: { tokens: config.maxQueryTokens, characters: config.maxQueryChars, cost: config.maxQueryCost },
    keptReplyBytes,
    hasTraces: config.federationTraces || access.hasCallers,
    exposesCost: config.exposeCost || access.hasCallers,
    redact,
    events,
  });
  dataVersion.onChanged(graphql.clearReplies);

  let isStopping = false;
  let stopLoading = () => {};
  let closing: Promise<void> | undefined;
  const handleRequest = createRequestHandler({
    admission: access.admission,
    isGraphiqlOpen: config.access.commonScopes.includes('graphiql'),
    graphql,
    graphiql: createGraphiql(config.connections),
    maxBodyBytes: config.maxBodyBytes,
    maxBufferedBytes: config.maxBufferedBytes,
    corsOrigins: config.corsOrigins,
    allowedHosts: config.allowedHosts,
    isReady: () => !isStopping,
    readiness: () => (isShared ? { sharedStore: isUp() ? 'up' : 'down' } : {}),
    events,
  });
  const server = createHttpServer(handleRequest, config.connections);

  return {
    /** GraphQL without HTTP, for tests and for embedding. */
    handle: graphql,
    async listen(): Promise<string> {
      stopLoading = knownBanks.loadSoon();
      return server.listen(config.host, config.port);
    },
    announceStop,
    /** Lets running queries finish within the shutdown timeout, then closes everything. */
    close(): Promise<void> {
      closing ??= shutDown();
      return closing;
    },
  };

  /** Load balancers read from /ready that they must send no more requests; those they send are served. */
  function announceStop(): void {
    isStopping = true;
    server.closeConnections();
  }

  async function shutDown(): Promise<void> {
    announceStop();
    stopLoading();
    dataVersion.close();
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, config.shutdownTimeoutMs);
    });
    const draining = server.drain(config.shutdownTimeoutMs);
    // Orders that were sent are charged even if the client has disconnected, so their essays are stored.
    await Promise.race([draining.then(idempotentEssays.flush), timeout]);
    clearTimeout(timer);
    await draining;
    await Promise.all([bankDataUpstream.client.close(), essaysUpstream.client.close(), graphql.dispose()]);
    // Closing the clients aborts the calls in flight; then everything written and counted is stored.
    await Promise.all([idempotentEssays.close(), ...allowances.map((allowance) => allowance.flush())]);
    await access.close();
    trustedDocuments?.close();
    await store.close();
  }
}
