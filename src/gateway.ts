import type { DestinationStream } from 'pino';
import { withCache } from './bank-data/cache.ts';
import { createAnswerCache } from './bank-data/look-up-cache.ts';
import { withPrecheck as precheckedBankData } from './bank-data/precheck.ts';
import { createRestBankData } from './bank-data/rest/rest-bank-data.ts';
import { createSecondLevel } from './bank-data/shared-cache.ts';
import { createKnownBanks } from './bank-lists/known-banks.ts';
import type { Config, UpstreamAccess } from './config/gateway-config.ts';
import type { ServiceName } from './errors.ts';
import { withIdempotency } from './essays/idempotency/idempotency.ts';
import { withPrecheck as precheckedEssays } from './essays/precheck.ts';
import { createRestEssays } from './essays/rest/rest-essays.ts';
import { createContext } from './graphql/context.ts';
import { schema } from './graphql/schema/schema.ts';
import { createGraphqlYoga } from './graphql/yoga.ts';
import { createGraphiql } from './http/graphiql.ts';
import { createRequestHandler } from './http/request-handler.ts';
import { createHttpServer } from './http/server.ts';
import { openStore } from './stores/open-store.ts';
import { createEvents } from './telemetry/events.ts';
import { createLog } from './telemetry/log.ts';
import { createRedact, createSecretRedaction } from './telemetry/redact.ts';
import { type Allowance, createAllowance } from './upstream/allowance/allowance.ts';
import { withAllowance } from './upstream/allowance/with-allowance.ts';
import { withBulkhead } from './upstream/bulkhead.ts';
import { withCircuitBreaker } from './upstream/circuit-breaker.ts';
import { withRetries } from './upstream/retries.ts';
import { createHttpTransport } from './upstream/transport.ts';

export interface Upstreams {
  bankData: UpstreamAccess;
  essays: UpstreamAccess;
}

/** Builds every part and joins them. The only place that sees all of the configuration. */
export function createGateway(
  config: Config,
  upstreams: Upstreams,
  logDestination: DestinationStream = process.stderr,
) {
  const secrets = listSecrets(config, upstreams);
  const redact = createRedact(secrets);
  const log = createLog({ level: config.logLevel, redact, destination: logDestination });
  const events = createEvents(log);
  const { store, isShared, isUp } = openStore(config.store, config.dataDir, events);

  const bankDataAllowance = createAllowance({
    service: 'bank-data',
    limit: config.bankData.monthlyAllowance,
    store,
    events,
  });
  const essaysAllowance = createAllowance({ service: 'essays', limit: config.essays.monthlyAllowance, store, events });
  const allowances = [bankDataAllowance, essaysAllowance];
  const bankDataClient = connect(
    'bank-data',
    upstreams.bankData,
    'apikey',
    config.bankData.timeoutMs,
    bankDataAllowance,
  );
  const { freshMs, staleMs, cacheMaxBytes: maxBytes } = config.bankData;
  const secondLevel = isShared ? createSecondLevel(store) : null;
  const cache = createAnswerCache({ freshMs, staleMs, maxBytes, secondLevel });
  const bankData = precheckedBankData(withCache(createRestBankData(bankDataClient, events), cache));

  const essaysClient = connect('essays', upstreams.essays, 'token', config.essays.timeoutMs, essaysAllowance);
  const { modeSpellings, textField, keepDays } = config.essays;
  const restEssays = createRestEssays({ client: essaysClient, events, modeSpellings, textField, redact });
  const keptEssays = withIdempotency(restEssays, { store, keepDays, events });
  const essays = precheckedEssays(keptEssays);

  const knownBanks = createKnownBanks();
  const { maxIbansPerQuery, maxEssaysPerQuery, maxQueryTokens, maxBodyBytes, corsOrigins, allowedHosts } = config;
  const parts = {
    bankData,
    essays,
    allowances: () => Promise.all(allowances.map(({ status }) => status())),
    maxIbansPerQuery,
    maxEssaysPerQuery,
    isKnownBank: knownBanks.has,
  };
  const handle = createGraphqlYoga({
    schema,
    createContext: (signal) => createContext(parts, signal),
    maxQueryTokens,
    redact,
    events,
  });

  let closing: Promise<void> | undefined;
  const isReady = () => closing === undefined;
  const readiness = () => (isShared ? { sharedStore: isUp() ? 'up' : 'down' } : {});
  const door = createRequestHandler({
    graphql: (request, response, context) => handle.handleNodeRequestAndResponse(request, response, context),
    graphiql: createGraphiql(),
    maxBodyBytes,
    corsOrigins,
    allowedHosts,
    isReady,
    readiness,
    events,
  });
  const server = createHttpServer(door);

  return {
    /** GraphQL without the door, for tests and for embedding. */
    handle,
    async listen(): Promise<string> {
      knownBanks.load();
      return server.listen(config.host, config.port);
    },
    /** Lets running queries finish within the shutdown time-out, then closes everything. */
    close(): Promise<void> {
      closing ??= closeAll();
      return closing;
    },
  };

  async function closeAll(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const overtime = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, config.shutdownTimeoutMs);
    });
    const drained = server.drain(config.shutdownTimeoutMs);
    // Essays whose callers left are still paid for.
    await Promise.race([drained.then(keptEssays.settled), overtime]);
    clearTimeout(timer);
    await drained;
    await Promise.all([bankDataClient.close(), essaysClient.close(), handle.dispose()]);
    // What is still under way ends with its connection; then all that was written and counted is stored.
    await Promise.all([keptEssays.settled(), ...allowances.map(({ settled }) => settled())]);
    await store.close();
  }

  function connect(
    service: ServiceName,
    { url, apiKey }: UpstreamAccess,
    keyHeader: string,
    timeoutMs: number,
    allowance: Allowance,
  ) {
    const {
      upstreamConcurrency: maxConcurrency,
      upstreamQueue: maxQueue,
      maxAnswerBytes,
      retryBackoffMs: backoffMs,
    } = config;
    const headers = { [keyHeader]: apiKey, accept: 'application/json' };
    const maxConnections = maxConcurrency;
    const transport = createHttpTransport({
      service,
      baseUrl: url,
      headers,
      timeoutMs,
      maxAnswerBytes,
      maxConnections,
      conceal: createSecretRedaction(secrets),
      events,
    });
    // A call waits in line before it meets the breaker: one that opens meanwhile turns the whole line away.
    const guarded = withCircuitBreaker(withAllowance(transport, allowance), { service, events });
    return withRetries(withBulkhead(guarded, { timeoutMs, maxConcurrency, maxQueue }), { timeoutMs, backoffMs });
  }
}

/** What nobody may read who asks the gateway, or reads its log: keys, and where the upstreams are. */
function listSecrets({ essayService: { llm }, store }: Config, upstreams: Upstreams): string[] {
  const access = [...Object.values(upstreams), ...(llm ? [llm] : [])];
  const keys = access.flatMap(({ url, apiKey }) => [apiKey ?? '', new URL(url).host]);
  return [...keys, store.secret ?? '', store.redis?.password ?? ''];
}
