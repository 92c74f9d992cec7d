import type { RedisConfig } from './redis-url.ts';
import type { EssayServiceConfig } from './service-config.ts';
import type { LogLevel } from './values.ts';

export interface UpstreamAccess {
  /** Base URL without a trailing slash. */
  url: string;
  apiKey: string;
}

interface UpstreamConfig {
  /** Null: the self-hosted service is started and used. */
  upstream: UpstreamAccess | null;
  /** Deadline of one call, in milliseconds. */
  timeoutMs: number;
  /** Calls per calendar month (UTC); null: no limit of our own. */
  monthlyAllowance: number | null;
}

export interface BankDataConfig extends UpstreamConfig {
  /** How long a cached response is fresh, in milliseconds. */
  freshMs: number;
  /** How long a cached response may be served stale, while it is revalidated or the service fails, in milliseconds. */
  staleMs: number;
  /** Approximate size limit of the cache, in bytes. */
  cacheMaxBytes: number;
}

export interface EssaysConfig extends UpstreamConfig {
  /** The upstream's name for each mode. */
  modeSpellings: { STANDARD: string; ACADEMIC: string; PROFESSIONAL: string; NEWS_REPORT: string };
  /** Dotted path of the response field that contains the text; null: the known names are tried. */
  textField: string | null;
  /** How long essays are stored, in days. */
  keepDays: number;
}

/** Where data that outlives a request is stored. */
export interface StoreConfig {
  /** Shared by several gateways; null: the embedded store in `dataDir`. */
  redis: RedisConfig | null;
  /** Encrypts what is stored; null: generated and stored in `dataDir`. Never null if `redis` is set. */
  secret: string | null;
}

export interface Config {
  host: string;
  port: number;
  logLevel: LogLevel;
  /** Folder of the embedded store; created with the first write. */
  dataDir: string;
  store: StoreConfig;
  /** How long active requests may take to finish after a stop signal, in milliseconds. */
  shutdownTimeoutMs: number;
  /** Largest accepted GraphQL request body, in bytes. */
  maxBodyBytes: number;
  /** Origins whose pages may call from a browser; empty: only pages of the gateway's own origin. */
  corsOrigins: readonly string[];
  /** Host names under which GraphQL is served, in addition to those of the loopback interface; `*` for any. */
  allowedHosts: readonly string[];
  /** Limit for the IBANs, and for the BICs, of one query, repeats included. */
  maxIbansPerQuery: number;
  /** Limit for the essays of one mutation. */
  maxEssaysPerQuery: number;
  /** Limit for the tokens of one GraphQL document. */
  maxQueryTokens: number;
  /** Limit for concurrent calls per upstream. */
  upstreamConcurrency: number;
  /** Limit for queued calls per upstream. */
  upstreamQueue: number;
  /** Upper bound of the delay before the first retry, in milliseconds. */
  retryBackoffMs: number;
  /** Largest accepted upstream response, in bytes. */
  maxAnswerBytes: number;
  bankData: BankDataConfig;
  essays: EssaysConfig;
  essayService: EssayServiceConfig;
}
