import type { AccessConfig } from './access-config.ts';
import { isOwnText, type LogLevel } from './parsers.ts';
import type { RedisConfig } from './redis-url.ts';
import type { EssayServiceConfig } from './service-config.ts';
import type { TracesConfig } from './traces-config.ts';

export interface UpstreamAccess {
  /** Base URL without a trailing slash. */
  url: string;
  apiKey: string;
}

interface UpstreamConfig {
  /** Null: the self-hosted service is started and used. */
  upstream: UpstreamAccess | null;
  /** Deadline of one operation, including queueing and retries, in milliseconds. */
  timeoutMs: number;
  /** Calls per calendar month (UTC); null: the gateway sets no limit. */
  monthlyAllowance: number | null;
}

interface BankDataConfig extends UpstreamConfig {
  /** Whether the service is our own, in this process or another one, so that it reports the version of its data. */
  isSelfHosted: boolean;
  /** How long a cached response is fresh, in milliseconds. */
  freshMs: number;
  /** Maximum age of a served response, in milliseconds. After `freshMs` it is stale. */
  maxAgeMs: number;
  /** Approximate size limit of the cached look-ups, in bytes. */
  lookUpBytes: number;
  /** Approximate size limit of the kept replies, in bytes. */
  keptReplyBytes: number;
}

interface EssaysConfig extends UpstreamConfig {
  /** The upstream's name for each mode. */
  modeNames: { STANDARD: string; ACADEMIC: string; PROFESSIONAL: string; NEWS_REPORT: string };
  /** Dotted path of the response field that contains the text; null: the well-known names are tried. */
  textField: string | null;
  /** How long essays are stored, in days. */
  keepDays: number;
}

/** The store of data that outlives a request. */
export interface StoreConfig {
  /** Shared by several gateways; null: the embedded store in `dataDir`. */
  redis: RedisConfig | null;
  /** Number of gateways that share Redis. */
  replicas: number;
  /** Encrypts the store; null: generated and stored in `dataDir`. Never null if `redis` is set. */
  secret: string | null;
}

/** Documents that clients of the operator send. */
export interface TrustedDocumentsConfig {
  /** Files, and folders of files. */
  paths: readonly string[];
  /** What happens to other documents: they are executed and logged, executed, or refused. */
  mode: 'log' | 'prefer' | 'require';
  /** Maximum length of a document, in characters. */
  maxCharacters: number;
}

export interface Config {
  host: string;
  port: number;
  logLevel: LogLevel;
  /** Limit for the lines of the request log, for failed requests and for all others; 0: none. */
  requestLogPerSecond: number;
  /** Address of the metrics server; null: there is none. */
  metrics: { host: string; port: number } | null;
  /** Folder of the embedded store and of imported bank directories. */
  dataDir: string;
  store: StoreConfig;
  /** How long the gateway serves requests after a stop signal while /ready responds 503, in milliseconds. */
  shutdownDelayMs: number;
  /** How long active requests may take to finish after that, in milliseconds. */
  shutdownTimeoutMs: number;
  /** Maximum size of a GraphQL request body, in bytes. */
  maxBodyBytes: number;
  /** Limit for all request bodies and unread responses in memory, in bytes. */
  maxBufferedBytes: number;
  connections: {
    maxConnections: number;
    /** Limit for pipelined requests. */
    maxRequestsPerConnection: number;
    /** How long a client may take to send a request, and how long it may read nothing of a response, in milliseconds. */
    clientTimeoutMs: number;
  };
  /** Origins whose pages may call from a browser; empty: only pages of the gateway's own origin. */
  corsOrigins: readonly string[];
  /** Host names under which GraphQL is served, in addition to those of the loopback interface; `*` for any. */
  allowedHosts: readonly string[];
  access: AccessConfig;
  trustedDocuments: TrustedDocumentsConfig | null;
  /** Null: no traces are exported. */
  traces: TracesConfig | null;
  /** Limit for the IBANs, and for the BICs, of one query, duplicates included. */
  maxIbansPerQuery: number;
  /** Limit for the essays of one mutation. */
  maxEssaysPerQuery: number;
  /** Limit for the entities that a router requests in one query. */
  maxEntitiesPerQuery: number;
  /** Limit for the tokens, and for the lines, of one GraphQL document. */
  maxQueryTokens: number;
  /** Limit for the characters of one GraphQL document. */
  maxQueryChars: number;
  /** Limit for the fields in one response and their weights, computed before execution. */
  maxQueryCost: number;
  /** Whether routers may request traces. */
  federationTraces: boolean;
  /** Whether a request may ask for `extensions.cost`. */
  exposeCost: boolean;
  /** Limit for concurrent calls per upstream. */
  upstreamConcurrency: number;
  /** Limit for queued calls per upstream. */
  upstreamQueue: number;
  /** Upper bound of the delay before the first retry, in milliseconds. */
  retryBackoffMs: number;
  /** Maximum size of an upstream response, in bytes. */
  maxResponseBytes: number;
  bankData: BankDataConfig;
  essays: EssaysConfig;
  essayService: EssayServiceConfig;
}

/** Both upstreams, configured or self-hosted. */
export interface Upstreams {
  bankData: UpstreamAccess;
  essays: UpstreamAccess;
}

/** The keys and the upstream hosts, which must not appear in logs and responses. */
export function listSecrets({ essayService: { llm }, store, access, traces }: Config, upstreams: Upstreams): string[] {
  const paid = [...Object.values(upstreams), ...(llm ? [llm] : [])];
  const keys = paid.flatMap(({ url, apiKey }) => [apiKey ?? '', ...secretHosts(url)]);
  // Such as `Bearer key`.
  const headers = Object.values(traces?.headers ?? {}).flatMap((value) => value.split(' '));
  // A header may be no secret, and a password may be a word: redacting them would change other texts.
  const others = [...headers, store.redis?.password ?? ''].filter((text) => text.length >= 8 && !isOwnText(text));
  return [...keys, ...others, store.secret ?? '', access.router?.secret ?? ''];
}

/** Not a name without a domain, such as `bank-data` or `essays` in Compose and Kubernetes, which is a word of other texts. */
function secretHosts(url: string): string[] {
  const { host } = new URL(url);
  return /[.:]/.test(host) ? [host] : [];
}
