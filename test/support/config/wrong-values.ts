/*
 * Every variable with a wrong value, and the problem that a start with it describes: the variable, what would be right, and
 * the value unless it may be a secret. test/config/wrong-values.test.ts reads all of them as a configuration, and
 * test/e2e/wrong-configuration.test.ts starts processes with them.
 */

type Env = Readonly<Record<string, string>>;

export interface WrongValue {
  variable: string;
  /** With the wrong value, and the other variables that it needs. */
  env: Env;
  problem: string;
}

const key = 'seeded-key';
const hash = 'ab'.repeat(32);
export const paid = { BANK_DATA_URL: 'https://bank.example', BANK_DATA_API_KEY: key };
const jwt = { JWT_ISSUER: 'issuer', JWT_AUDIENCE: 'gateway' };
const wholeNumber = (min: number, max: number, value: string) =>
  `must be a whole number from ${min} to ${max}, but is "${value}"`;
const url = 'must be an http:// or https:// URL without user name, password, query or fragment';
const switches = 'must be "on" or "off"';
const callBudget = 'must be a number of calls per day or month, such as 1000/day or 20000/month';
const hosts = 'must be host names without port or wildcard, such as gateway.example.com, separated by commas, or *';
const origins = 'must be origins such as https://app.example.com, without path or wildcard, separated by commas, or *';
const scopes = 'must be scopes separated by +, of bank-data, essays, introspection, graphiql, traces, cost';
const host = 'must be an IP address or host name of this machine without a port, such as 127.0.0.1 or 0.0.0.0';
const redisUrl =
  'must be redis://[user:password@]host[:port][/database], or rediss:// for TLS, with a percent-encoded password';
const pairs = 'must be name=value pairs separated by commas, with percent-encoded values, such as';
const modeName = 'must be at most 100 characters';
export const asciiKey = 'must be printable ASCII without spaces';
const randomKey = 'must be random, not a word of the log, which would be redacted everywhere';
const longKey = 'must have at least 8 characters';
const tokens = 'missing; tokens need JWT_ISSUER, JWT_AUDIENCE, and JWT_JWKS_URL or JWT_PUBLIC_KEY';
const unreadable = (variable: string) =>
  `the file cannot be read (ENOENT); it must be the path of a file with the value of ${variable}`;

/** The variable, a wrong value, what follows the name in the message, and other variables. */
const rows: [variable: string, value: string, message: string, env?: Env][] = [
  ['HOST', 'localhost:4000', `${host}, but is "localhost:4000"`],
  ['HOST', 'http://localhost', `${host}, but is "http://localhost"`],
  ['HOST', '[::1]', `${host}, but is "[::1]"`],
  ['PORT', 'http', wholeNumber(0, 65_535, 'http')],
  ['PORT', '70000', wholeNumber(0, 65_535, '70000')],
  ['PORT', '4000.5', wholeNumber(0, 65_535, '4000.5')],
  ['PORT', '"4000"', wholeNumber(0, 65_535, '\\"4000\\"')],
  ['LOG_LEVEL', 'Info', 'must be one of trace, debug, info, warn, error, fatal, silent, but is "Info"'],
  ['SHUTDOWN_DELAY_MS', '5s', wholeNumber(0, 600_000, '5s')],
  ['SHUTDOWN_TIMEOUT_MS', '-1', wholeNumber(0, 3_600_000, '-1')],
  ['MAX_BODY_BYTES', '1MB', wholeNumber(1_024, 100_000_000, '1MB')],
  ['MAX_BUFFERED_BYTES', '64e6', wholeNumber(1_024, 100_000_000_000, '64e6')],
  ['MAX_CONNECTIONS', '0', wholeNumber(1, 1_000_000, '0')],
  ['MAX_REQUESTS_PER_CONNECTION', '0', wholeNumber(1, 10_000, '0')],
  ['CLIENT_TIMEOUT_MS', '0', wholeNumber(1, 3_600_000, '0')],
  ['CORS_ORIGINS', 'https://a.example/', `${origins}, but is "https://a.example/"`],
  ['CORS_ORIGINS', 'a.example', `${origins}, but is "a.example"`],
  ['CORS_ORIGINS', 'https://*.a.example', `${origins}, but is "https://*.a.example"`],
  ['ALLOWED_HOSTS', 'a.example:4000', `${hosts}, but is "a.example:4000"`],
  ['ALLOWED_HOSTS', 'https://a.example', `${hosts}, but is "https://a.example"`],
  ['ALLOWED_HOSTS', '*.a.example', `${hosts}, but is "*.a.example"`],
  ['ALLOWED_HOSTS', 'a.example,', `${hosts}, but is "a.example,"`],
  ['MAX_IBANS_PER_QUERY', '0', wholeNumber(1, 100_000, '0')],
  ['MAX_ESSAYS_PER_QUERY', '0', wholeNumber(1, 1_000, '0')],
  ['MAX_ENTITIES_PER_QUERY', '0', wholeNumber(1, 100_000, '0')],
  ['MAX_QUERY_TOKENS', '99', wholeNumber(100, 1_000_000, '99')],
  ['MAX_QUERY_CHARS', '999', wholeNumber(1_000, 100_000_000, '999')],
  ['MAX_QUERY_COST', '999', wholeNumber(1_000, 1_000_000_000, '999')],
  ['FEDERATION_TRACES', 'true', `${switches}, but is "true"`],
  ['EXPOSE_COST', '1', `${switches}, but is "1"`],
  ['INTROSPECTION', 'yes', `${switches}, but is "yes"`],
  ['GRAPHIQL', 'ON', `${switches}, but is "ON"`],
  ['TRUSTED_DOCUMENTS_MODE', 'strict', 'must be log, prefer or require, but is "strict"'],
  ['UPSTREAM_CONCURRENCY', '1.5', wholeNumber(1, 1_000, '1.5')],
  ['UPSTREAM_QUEUE', 'none', wholeNumber(0, 1_000_000, 'none')],
  ['UPSTREAM_RETRY_BACKOFF_MS', '60001', wholeNumber(0, 60_000, '60001')],
  ['MAX_ANSWER_BYTES', '1', wholeNumber(1_024, 100_000_000, '1')],
  ['BANK_DATA_URL', 'bank.example', `${url}, but is "bank.example"`],
  ['BANK_DATA_URL', 'ftp://bank.example', `${url}, but is "ftp://bank.example"`],
  ['BANK_DATA_URL', 'http:bank.example', `${url}, but is "http:bank.example"`],
  ['BANK_DATA_URL', 'https://user:seeded@bank.example', url],
  ['BANK_DATA_URL', 'https://bank.example?key=seeded', url],
  ['BANK_DATA_URL', 'https://bank.example', 'BANK_DATA_API_KEY: missing; it is required because BANK_DATA_URL is set'],
  ['BANK_DATA_API_KEY', key, 'BANK_DATA_URL: missing; it is required because BANK_DATA_API_KEY is set'],
  ['BANK_DATA_API_KEY', 'seeded key', asciiKey],
  ['BANK_DATA_API_KEY', 'seeded', longKey],
  ['BANK_DATA_API_KEY', 'bank-data', randomKey],
  ['BANK_DATA_API_KEY_FILE', '/missing', unreadable('BANK_DATA_API_KEY')],
  ['BANK_DATA_TIMEOUT_MS', '10s', wholeNumber(1, 3_600_000, '10s')],
  ['BANK_DATA_FRESH_S', '1d', wholeNumber(0, 31_536_000, '1d')],
  ['BANK_DATA_STALE_S', '30d', wholeNumber(0, 315_360_000, '30d')],
  ['BANK_DATA_MONTHLY_ALLOWANCE', 'unlimited', wholeNumber(0, 1_000_000_000, 'unlimited')],
  ['CACHE_MAX_MB', '0', wholeNumber(1, 100_000, '0')],
  ['ESSAY_URL', '//essays.example', `${url}, but is "//essays.example"`],
  ['ESSAY_URL', 'https://essays.example', 'ESSAY_API_KEY: missing; it is required because ESSAY_URL is set'],
  ['ESSAY_API_KEY', key, 'ESSAY_URL: missing; it is required because ESSAY_API_KEY is set'],
  ['ESSAY_API_KEY', 'se\u00ebded-key', asciiKey],
  ['ESSAY_API_KEY', 'upstreamCalls', randomKey],
  ['ESSAY_API_KEY_FILE', '/missing', unreadable('ESSAY_API_KEY')],
  ['ESSAY_TIMEOUT_MS', '2m', wholeNumber(1, 3_600_000, '2m')],
  ['ESSAY_MODE_STANDARD', 'x'.repeat(101), `${modeName}, but is "${'x'.repeat(80)}..."`],
  ['ESSAY_MODE_ACADEMIC', 'x'.repeat(101), `${modeName}, but is "${'x'.repeat(80)}..."`],
  ['ESSAY_MODE_PROFESSIONAL', 'x'.repeat(101), `${modeName}, but is "${'x'.repeat(80)}..."`],
  ['ESSAY_MODE_NEWS_REPORT', 'x'.repeat(101), `${modeName}, but is "${'x'.repeat(80)}..."`],
  [
    'ESSAY_TEXT_FIELD',
    'data..essay',
    'must be the path of a field, with dots between the names, such as data.essay, but is "data..essay"',
  ],
  ['ESSAY_KEEP_DAYS', '0', wholeNumber(1, 3_650, '0')],
  ['ESSAY_MONTHLY_ALLOWANCE', '1_000', wholeNumber(0, 1_000_000_000, '1_000')],
  ['REDIS_URL', '127.0.0.1:6379', redisUrl, { STORE_SECRET: 'seeded-secret-of-the-store' }],
  ['REDIS_URL', 'http://:seeded@redis', redisUrl, { STORE_SECRET: 'seeded-secret-of-the-store' }],
  ['REDIS_URL', 'redis://redis/0/1', redisUrl, { STORE_SECRET: 'seeded-secret-of-the-store' }],
  ['REDIS_URL', 'redis://redis', 'STORE_SECRET: missing; it is required because REDIS_URL is set'],
  ['REDIS_URL_FILE', '/missing', unreadable('REDIS_URL')],
  ['REPLICAS', '0', wholeNumber(1, 10_000, '0')],
  ['REPLICAS', '2', 'REDIS_URL: missing; it is required because REPLICAS is set'],
  ['STORE_SECRET', 'seeded', 'must have at least 16 characters'],
  ['STORE_SECRET', 'seeded secret of the store', asciiKey],
  ['STORE_SECRET', 'UPSTREAM_UNAVAILABLE', randomKey],
  ['STORE_SECRET_FILE', '/missing', unreadable('STORE_SECRET')],
  ['LLM_URL', '127.0.0.1:11434', `${url}, but is "127.0.0.1:11434"`],
  ['LLM_URL', 'http://127.0.0.1:11434/v1', 'LLM_MODEL: missing; it is required because LLM_URL is set'],
  ['LLM_MODEL', 'llama3.2', 'LLM_URL: missing; it is required because LLM_MODEL is set'],
  ['LLM_API_KEY', key, 'LLM_URL: missing; it is required because LLM_API_KEY is set'],
  ['LLM_API_KEY', 'seeded', longKey],
  [
    'LLM_API_KEY_FILE',
    '/dev',
    'the file cannot be read (EISDIR); it must be the path of a file with the value of LLM_API_KEY',
  ],
  [
    'LLM_API_KEY_FILE',
    '/dev/zero',
    'the file cannot be read (not a regular file); it must be the path of a file with the value of LLM_API_KEY',
  ],
  ['LLM_TIMEOUT_MS', '0', wholeNumber(1, 3_600_000, '0')],
  ['ESSAY_SERVICE_ALLOWANCE', '-1', wholeNumber(0, 1_000_000_000, '-1')],
  ['BANK_DATA_SERVICE_PORT', 'x', wholeNumber(0, 65_535, 'x'), { BANK_DATA_API_KEY: key }],
  ['ESSAY_SERVICE_PORT', 'x', wholeNumber(0, 65_535, 'x'), { ESSAY_API_KEY: key }],
  ['GATEWAY_AUTH', 'off', 'must be "none" or not set, but is "off"'],
  [
    'GATEWAY_AUTH',
    'none',
    'must not be "none" if callers are configured (GATEWAY_API_KEYS, GATEWAY_API_KEYS_FILE, JWT_..., ROUTER_SECRET); ' +
      'ANONYMOUS_SCOPES permits requests without credentials',
    { GATEWAY_API_KEYS: `shop:${hash}:essays` },
  ],
  ['GATEWAY_API_KEYS', key, 'must be entries name:sha256-hex:scope+scope, separated by commas'],
  [
    'GATEWAY_API_KEYS',
    'shop:seeded:essays',
    'must contain the SHA-256 hash of each key as 64 hexadecimal digits: ledgerquill api-key NAME',
  ],
  ['GATEWAY_API_KEYS', `the shop:${hash}:essays`, 'names must have 1 to 64 letters, digits, dots, - and _'],
  ['GATEWAY_API_KEYS', `shop:${hash}:essay`, scopes],
  ['GATEWAY_API_KEYS', `a:${hash}:essays,b:${hash}:essays`, 'must contain the hash of each key only once'],
  [
    'JWT_JWKS_URL',
    'http://issuer.example',
    'must be an https:// URL without user name and password; http:// only for a loopback address, but is "http://issuer.example"',
    jwt,
  ],
  ['JWT_JWKS_URL', 'https://issuer.example', `JWT_ISSUER: ${tokens}`, { JWT_AUDIENCE: 'gateway' }],
  ['JWT_PUBLIC_KEY', 'seeded', 'must be a public key in PEM or JWK format'],
  ['JWT_PUBLIC_KEY', '-----BEGIN PRIVATE KEY-----seeded', 'must be a public key, but is a private one'],
  ['JWT_PUBLIC_KEY_FILE', '/missing', unreadable('JWT_PUBLIC_KEY')],
  ['JWT_ISSUER', 'issuer', `JWT_AUDIENCE: ${tokens}`, { JWT_JWKS_URL: 'https://issuer.example' }],
  ['JWT_AUDIENCE', 'gateway', `JWT_JWKS_URL: ${tokens}`, { JWT_ISSUER: 'issuer' }],
  [
    'JWT_ALGORITHMS',
    'HS256',
    'must be of RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384, ES512, EdDSA, Ed25519, but is "HS256"',
  ],
  ['JWT_CLOCK_SKEW_S', '1m', wholeNumber(0, 300, '1m')],
  ['ROUTER_SECRET', 'seeded-but-short', 'must have at least 32 characters'],
  ['ROUTER_SECRET_FILE', '/missing', unreadable('ROUTER_SECRET')],
  ['ROUTER_SCOPES', 'bank-data,essays', `${scopes}, but is "bank-data,essays"`],
  ['ANONYMOUS_SCOPES', 'all', `${scopes}, but is "all"`],
  ['CALLER_REQUESTS_PER_MINUTE', '0', wholeNumber(1, 10_000_000, '0')],
  ['CALLER_BANK_DATA_CALLS', '1000', `${callBudget}, but is "1000"`],
  ['CALLER_ESSAY_CALLS', '10/week', `${callBudget}, but is "10/week"`],
  ['CALLER_MAX_QUERY_COST', '999', wholeNumber(1_000, 1_000_000_000, '999')],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4318', `${url}, but is "collector:4318"`],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'seeded', `${pairs} api-key=secret`],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'api-key=seeded%', `${pairs} api-key=secret`],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'api-key=seeded%0A', `${pairs} api-key=secret`],
  ['OTEL_EXPORTER_OTLP_HEADERS_FILE', '/missing', unreadable('OTEL_EXPORTER_OTLP_HEADERS')],
  [
    'OTEL_EXPORTER_OTLP_PROTOCOL',
    'grpc',
    'must be http/protobuf, which collectors usually accept on port 4318, but is "grpc"',
  ],
  ['OTEL_EXPORTER_OTLP_COMPRESSION', 'zstd', 'must be none or gzip, but is "zstd"'],
  ['OTEL_EXPORTER_OTLP_TIMEOUT', '10s', wholeNumber(1, 60_000, '10s')],
  ['OTEL_RESOURCE_ATTRIBUTES', 'production', `${pairs} deployment.environment.name=production, but is "production"`],
  [
    'OTEL_TRACES_SAMPLER',
    'xray',
    'must be one of always_on, always_off, traceidratio, parentbased_always_on, parentbased_always_off, ' +
      'parentbased_traceidratio, but is "xray"',
  ],
  ['OTEL_TRACES_SAMPLER_ARG', '1%', 'must be a number from 0 to 1, such as 0.01, but is "1%"'],
  ['OTEL_TRACES_SAMPLER_ARG', '1.5', 'must be a number from 0 to 1, such as 0.01, but is "1.5"'],
  ['OTEL_SDK_DISABLED', 'yes', 'must be true or false, but is "yes"'],
];

export const wrongValues: readonly WrongValue[] = rows.map(([variable, value, message, env = {}]) => ({
  variable,
  env: { [variable]: value, ...env },
  problem: /^[A-Z_]+: missing/.test(message) ? message : `${variable}: ${message}`,
}));
