import { join } from 'node:path';
import type { DestinationStream } from 'pino';
import { createBankLists } from '../banks/bank-lists.ts';
import { createKnownBanks, type KnownBanks } from '../banks/known-banks.ts';
import { answerWithin } from '../base/async/pause.ts';
import { createTimeSlices } from '../base/async/time-slices.ts';
import { findFreeBytes } from '../base/data-folder.ts';
import { createRedactions } from '../base/redact.ts';
import { followSecretFiles } from '../base/variables/follow-secret-file.ts';
import { createAuditTrail } from './audit/audit-trail.ts';
import { auditFolder } from './audit/read-audit.ts';
import { createCachedBankData } from './bank-data/cached-bank-data.ts';
import { createAccess } from './callers/access.ts';
import type { Scope } from './config/callers.ts';
import { createConfigHash } from './config/config-hash.ts';
import {
  type Config,
  draftsEssays,
  isUncommon,
  keyFileOf,
  listSecrets,
  type Upstreams,
  writesDataDir,
} from './config/read-config.ts';
import { createPaidEssays } from './essays/paid-essays.ts';
import { createTrustedDocuments } from './graphql/documents/trusted-documents.ts';
import { createGraphqlHandler } from './graphql/request/graphql-handler.ts';
import { createContext } from './graphql/schema/context.ts';
import { createIbanIds } from './graphql/schema/iban-ids.ts';
import { readQueryLimits } from './graphql/schema/query-limits.ts';
import { schema } from './graphql/schema/schema.ts';
import type { CheckEndpoint } from './http/check-endpoint.ts';
import { createGraphiql } from './http/graphiql.ts';
import { type MetricsServer, startMetricsServer } from './http/metrics-server.ts';
import { createRequestHandler, type McpEndpoint } from './http/request-handler.ts';
import { createHttpServer } from './http/server.ts';
import type { McpEndpointOptions } from './mcp/mcp-endpoint.ts';
import { closeOnError, openStore } from './stores/open-store.ts';
import { readOrCreateSecret } from './stores/sealed-store.ts';
import { createStoreSecrets } from './stores/store-secret.ts';
import type { Events } from './telemetry/events.ts';
import type { MetricSources } from './telemetry/metrics/exposition.ts';
import { createTelemetry, watchClock } from './telemetry/telemetry.ts';
import { createUpstreamFactory, type UpstreamLimits } from './upstream/upstream-client.ts';

interface GatewayOptions {
  logDestination?: DestinationStream;
  /** Several gateways of one process can share the lists. */
  knownBanks?: KnownBanks;
  /** How often a subscription without results gets a heartbeat: by default, half the idle timeout of common proxies (30 s). */
  heartbeatMs?: number;
  upstreamLimits?: Partial<UpstreamLimits>;
  /** Adds tools for agents to those of the gateway. */
  addMcpTools?: McpEndpointOptions['addTools'];
}

/** Creates all parts and connects them. The only function that receives the whole configuration. */
export function createGateway(
  config: Config,
  upstreams: Upstreams,
  {
    logDestination = process.stderr,
    knownBanks = createKnownBanks(createBankLists({ dataDir: config.dataDir, lookEveryMs: 1_000 })),
    heartbeatMs = 15_000,
    upstreamLimits,
    addMcpTools,
  }: GatewayOptions = {},
) {
  const { redact, redactSecrets, add } = createRedactions(listSecrets(config, upstreams));
  const { prices } = config.access;
  // The events are created with their listeners, of which the trail is one.
  const auditEvents: Pick<Events, 'auditFailed' | 'auditRecovered'> = {
    auditFailed: (reason) => events.auditFailed(reason),
    auditRecovered: (lost) => events.auditRecovered(lost),
  };
  const folder = join(config.dataDir, auditFolder);
  const audit = config.audit && createAuditTrail({ ...config.audit, prices, folder, redact, events: auditEvents });
  const listeners = audit === null ? [] : [audit.events];
  const telemetry = createTelemetry({ config, redact, logDestination, listeners });
  const { log, events, metrics, startTrace, droppedLogLines, setDebug } = telemetry;
  const trustedDocuments = config.trustedDocuments && createTrustedDocuments({ ...config.trustedDocuments, events });
  const opened = openStore(config.store, config.dataDir, events);
  const { store, isShared, sharedValues, replicas, failure, hasWorked, checkSecret, onRecovered } = opened;
  const storeSecrets = createStoreSecrets(config.store, opened);
  const access = closeOnError(store, () =>
    createAccess({
      access: config.access,
      storeConfig: { ...config.store, secret: nameSecret() },
      store,
      replicas,
      events,
    }),
  );

  /** The names of the callers in tokens outlive the process, as the audit trail has them. */
  function nameSecret(): string | null {
    return config.store.secret ?? (config.access.jwt && readOrCreateSecret(config.dataDir));
  }

  /** With the present keys, which are read for each call, as their files may replace them. */
  const upstreamAccess = { bankData: { ...upstreams.bankData }, essays: { ...upstreams.essays } };
  const keyFiles = [
    keyFileOf('BANK_DATA_API_KEY', upstreamAccess.bankData),
    keyFileOf('ESSAY_API_KEY', upstreamAccess.essays),
  ];
  const hideSecret = (secret: string) => isUncommon(secret) && add(secret);
  const secretFiles = followSecretFiles([...keyFiles, ...storeSecrets.files], { hideSecret, events });
  const limits = upstreamLimits;
  const createUpstream = createUpstreamFactory({ config, store, replicas, limits, redactSecrets, events });
  const bankData = createCachedBankData({
    createUpstream,
    access: upstreamAccess.bankData,
    config,
    store,
    sharedValues,
    events,
    findGermanRule: knownBanks.ibanRule,
  });
  const essaysUpstream = createUpstream('essays', upstreamAccess.essays, 'token', config.essays);
  const essays = createPaidEssays({
    client: essaysUpstream.client,
    config,
    allowance: essaysUpstream.allowance,
    budgets: access.budgets,
    isWithdrawn: access.isWithdrawn,
    store,
    onRecovered,
    redact,
    events,
  });

  const mayGrant = (scope: Scope) => access.hasCallers || config.access.anonymousScopes?.includes(scope) === true;
  const allowances = [bankData.allowance, essaysUpstream.allowance];
  const slices = createTimeSlices(sliceMs);
  const services = {
    bankData,
    quoteBankData: bankData.quoted,
    essays,
    allowances,
    budgets: access.budgets,
    knownBanks,
    ibanIds: createIbanIds(opened.secrets),
    limits: readQueryLimits(config),
    isOnlyLocal: config.allowedHosts.length === 0,
    slices,
  };
  const graphql = createGraphqlHandler({
    schema,
    createContext: createContext.bind(null, services),
    hasCallers: access.hasCallers,
    trustedDocuments,
    maxQueryCost: config.maxQueryCost,
    keptReplyBytes: config.bankData.keptReplyBytes,
    maxReplyBytes: config.maxReplyBytes,
    prices,
    inTimeSlice: slices,
    extensions: (['cost', 'traces'] as const).filter(mayGrant),
    redact,
    events,
  });
  bankData.epochs.onChanged(graphql.clearReplies);

  let check: Promise<CheckEndpoint> | undefined;
  /** Files are seldom checked, so its code is loaded by the first request. */
  function loadCheck(): Promise<CheckEndpoint> {
    check ??= import('./http/check-endpoint.ts').then(({ createCheckEndpoint }) =>
      createCheckEndpoint({
        limits: { ...config.check, clientTimeoutMs: config.connections.clientTimeoutMs },
        bankData,
        budgets: access.budgets,
        dataDir: config.dataDir,
        bankLists: knownBanks.lists,
        // Half of the calls at a time remain for queries.
        maxConcurrency: Math.ceil(config.upstreamConcurrency / 2 / config.check.maxRequests),
        isOpenToAnonymous: config.trustedDocuments?.mode !== 'require',
      }),
    );
    return check;
  }

  let mcp: Promise<McpEndpoint> | undefined;
  /** Most gateways serve no agents, so its code is loaded by the first request. */
  function loadMcp(): Promise<McpEndpoint> {
    mcp ??= import('./mcp/mcp-endpoint.ts').then(({ createMcpEndpoint }) =>
      createMcpEndpoint({
        addTools: addMcpTools,
        schema,
        documents: trustedDocuments,
        graphql,
        budgets: access.budgets,
        allowances,
        paidServices: new Set(config.paidServices),
        store,
        isOnlyLocal: services.isOnlyLocal,
        secrets: config.store.secret === null ? null : opened.secrets,
        maxIbans: config.maxIbansPerQuery,
        issuer: config.access.jwt?.issuer ?? null,
        inTimeSlice: slices,
        events,
      }),
    );
    return mcp;
  }

  let isStopping = false;
  let stopLoading = () => {};
  let stopWatching = () => {};
  let closing: Promise<void> | undefined;
  const handleRequest = createRequestHandler({
    access,
    isGraphiqlOpen: config.access.commonScopes.includes('graphiql'),
    graphql,
    graphiql: createGraphiql(config.connections),
    loadCheck: config.check.maxRequests === 0 ? null : loadCheck,
    loadMcp: config.hasMcp ? loadMcp : null,
    maxBufferedBytes: config.maxBufferedBytes,
    streamLimits: { clientTimeoutMs: config.connections.clientTimeoutMs, heartbeatMs },
    inTimeSlice: slices,
    corsOrigins: config.corsOrigins,
    allowedHosts: config.allowedHosts,
    startTrace,
    findUnreadiness,
    readiness() {
      const storeFailure = failure();
      // Before the first token needs them, and so that the next check shows whether the issuer works again.
      access.readMissingTokenKeys();
      return {
        ...(isShared && { sharedStore: storeFailure === null ? 'up' : 'down' }),
        ...(storeFailure !== null && { storeFailure }),
        ...(opened.risks().length > 0 && { storeRisks: opened.risks().join(', ') }),
        ...(access.isIssuerUp() === false && { issuer: 'down' }),
        ...(draftsEssays(config) && { essays: 'drafter' }),
      };
    },
    events,
  });
  const server = createHttpServer(handleRequest, { ...config.connections, onRefused: events.connectionRefused });
  const configHash = createConfigHash(config, () => ({
    storeSecret: storeSecrets.present(),
    callers: access.callers().map(({ name, limits }) => ({ name, limits })),
    bankLists: [...knownBanks.lists(), ...knownBanks.registers()],
  }));
  const sources: MetricSources = {
    activeRequests: server.activeRequests,
    bulkheads: () => ({ 'bank-data': bankData.client.status(), essays: essaysUpstream.client.status() }),
    essayOrders: () => essays.status(),
    lookUps: bankData.lookUps,
    caches: graphql.caches,
    allowances: () => Promise.all(allowances.map((allowance) => allowance.statusWithin(maxScrapeWaitMs))),
    budgets: access.budgets.known,
    isStoreUp: () => failure() === null,
    storeRisks: opened.risks,
    isIssuerUp: access.isIssuerUp,
    freeBytes: () => (writesDataDir(config) ? findFreeBytes(config.dataDir) : Promise.resolve(null)),
    bankLists: knownBanks.lists,
    droppedLogLines,
    unwrittenAuditLines: () => audit?.unwrittenLines() ?? 0,
    configHash,
    revision: config.revision,
  };
  let metricsServer: MetricsServer | null = null;

  return {
    /** GraphQL without HTTP. */
    graphql,
    /** If it fails, everything is closed. @returns the URL */
    listen: () =>
      listen().catch(async (error: unknown) => {
        await close();
        throw error;
      }),
    /** Null if they are off, or the gateway does not listen yet. */
    metricsUrl: () => metricsServer?.url ?? null,
    bankLists: knownBanks.lists,
    log,
    announceStop,
    setDebug,
    /** Reads the files with secrets again: API keys of the upstreams and of callers, and secrets of the store. */
    reloadKeys() {
      secretFiles.reload();
      access.reloadKeys();
    },
    close,
  };

  /** Until the store was read once, a gateway that limits calls does not know how many were made, and sends none. */
  function findUnreadiness(): string | null {
    if (isStopping) return 'stopping';
    const limitsCalls = config.bankData.monthlyAllowance !== null || config.access.defaultLimits.bankDataCalls !== null;
    return limitsCalls && !hasWorked() ? 'waiting for the store' : null;
  }

  async function listen(): Promise<string> {
    await checkSecret();
    // Then an outage before the first call finds the counts known.
    if (isShared) for (const allowance of allowances) void allowance.status();
    stopLoading = knownBanks.loadSoon();
    stopWatching = watchClock(events);
    essays.begin();
    await telemetry.open(sources);
    if (metrics && config.metrics) {
      const { operatorKey } = config;
      const { purge } = bankData.epochs;
      metricsServer = await startMetricsServer({ ...config.metrics, metrics, sources, operatorKey, purge, events });
    }
    return server.listen(config.host, config.port);
  }

  /** Lets running queries finish within the shutdown timeout, then closes everything. */
  function close(): Promise<void> {
    closing ??= shutDown();
    return closing;
  }

  /** /ready now fails, so that load balancers send no more requests; those that still arrive are served. */
  function announceStop(): void {
    isStopping = true;
    server.closeConnections();
  }

  async function shutDown(): Promise<void> {
    announceStop();
    secretFiles.close();
    stopLoading();
    stopWatching();
    bankData.epochs.close();
    const stoppingEssays = essays.stop();
    const draining = server.drain(config.shutdownTimeoutMs);
    // Orders that were sent are charged even if the client has disconnected, so their essays are stored.
    const flushing = Promise.all([draining, stoppingEssays]).then(() => essays.stop());
    await answerWithin(flushing, config.shutdownTimeoutMs);
    await draining;
    await Promise.all([bankData.client.close(), essaysUpstream.client.close()]);
    // Closing the clients aborts the calls in flight; then everything written and counted is stored.
    await answerWithin(stoppingEssays, storeEndsMs);
    await Promise.all([essays.close(), ...allowances.map((allowance) => allowance.flush())]);
    await Promise.all([access.close(), telemetry.close(), trustedDocuments?.close()]);
    await audit?.close();
    await Promise.all([store.close(), knownBanks.close(), metricsServer?.close()]);
    await telemetry.closeLog();
  }
}

/** For the ends of the orders whose calls were aborted. If they are not stored, another process finds them. */
const storeEndsMs = 2_000;

/** How long the metrics wait for the counts of calls: as long as one command of a slow Redis may take. */
const maxScrapeWaitMs = 1_000;

/** In milliseconds: how long work of one request may delay all others. */
const sliceMs = 4;
