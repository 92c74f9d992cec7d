/*
 * Every variable with a wrong value, and the problem that a start with it describes: the variable, what would be right, and
 * the value unless it may be a secret. test/gateway/config/wrong-values.test.ts reads all of them as a configuration, and
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
const wholeNumber = (min: number, max: number) => `must be a whole number from ${min} to ${max}`;
const url = 'must be an http:// or https:// URL without user name, password, query or fragment';
const switches = 'must be "on" or "off"';
const callBudget = 'must be calls or money per day or month, such as 1000/day, 20000/month or 100 EUR/month';
const callPrice = 'must be an amount above 0 with at most six decimals and a currency, such as 0.01 EUR';
const needsEuro = 'a budget of 100.00 EUR needs the price of a call in EUR, but ';
const hosts = 'must be host names without port or wildcard, such as gateway.example.com, separated by commas, or *';
const origins = 'must be origins such as https://app.example.com, without path or wildcard, separated by commas, or *';
const scopes = 'must be scopes separated by +, of bank-data, essays, introspection, graphiql, traces, cost';
const host = 'must be an IP address or host name of this machine without a port, such as 127.0.0.1 or 0.0.0.0';
const redisForms = {
  server: 'redis://[user:password@]host[:port][/database], or rediss:// for TLS',
  sentinel:
    'redis-sentinel://[user:password@]host[:port],host[:port],...[/database]#masterName, or rediss-sentinel:// for TLS',
  cluster:
    'redis-cluster://[user:password@]host[:port],host[:port],... without a database, or rediss-cluster:// for TLS',
};
const redisUrl = (form: string) => `must be ${form}, with a percent-encoded password`;
const pairs = 'must be name=value pairs separated by commas, with percent-encoded values, such as';
export const asciiKey = 'must be printable ASCII without spaces';
const randomKey = 'must be random, not a word of the log, which would be redacted everywhere';
const longKey = 'must have at least 8 characters';
const storeSecret = { STORE_SECRET: 'seeded-secret-of-the-store' };
const tokens = 'missing; tokens need JWT_ISSUER, JWT_AUDIENCE, and JWT_JWKS_URL or JWT_PUBLIC_KEY';
const unreadable = (variable: string, reason = 'ENOENT') =>
  `the file cannot be read (${reason}); it must be the path of a file with the value of ${variable}`;

/** The variable, what would be right, and wrong values, which are shown. */
const shown: [variable: string, message: string, ...values: string[]][] = [
  ['HOST', host, 'localhost:4000', 'http://localhost', '[::1]'],
  ['PORT', wholeNumber(0, 65_535), 'http', '70000', '4000.5', '"4000"'],
  ['LOG_LEVEL', 'must be one of trace, debug, info, warn, error, fatal, silent', 'Info'],
  ['SHUTDOWN_DELAY_MS', wholeNumber(0, 600_000), '5s'],
  ['AUDIT_DAYS', 'must be a whole number of days from 0 to 3650, or stdout', '3651', 'stderr'],
  ['SHUTDOWN_TIMEOUT_MS', wholeNumber(0, 3_600_000), '-1'],
  ['MAX_BUFFERED_BYTES', wholeNumber(1_000_000, 100_000_000_000), '64e6', '999999'],
  ['MAX_CONNECTIONS', wholeNumber(1, 1_000_000), '0'],
  ['CLIENT_TIMEOUT_MS', wholeNumber(1, 3_600_000), '0'],
  ['CORS_ORIGINS', origins, 'https://a.example/', 'a.example', 'https://*.a.example'],
  ['ALLOWED_HOSTS', hosts, 'a.example:4000', 'https://a.example', '*.a.example', 'a.example,'],
  ['MAX_IBANS_PER_QUERY', wholeNumber(1, 100_000), '0'],
  ['CHECK_MAX_REQUESTS', wholeNumber(0, 1_000), '-1'],
  ['MCP', switches, 'yes'],
  ['CHECK_MAX_BYTES', wholeNumber(1_024, 1_000_000_000), '10MB'],
  ['CHECK_MAX_IBANS', wholeNumber(1, 1_000_000), '0'],
  ['MAX_QUERY_COST', wholeNumber(1_000, 1_000_000_000), '999'],
  ['MAX_RESPONSE_BYTES', wholeNumber(1_000_000, 1_000_000_000), '999999'],
  ['INTROSPECTION', switches, 'yes'],
  ['GRAPHIQL', switches, 'ON'],
  ['TRUSTED_DOCUMENTS_MODE', 'must be log, prefer or require', 'strict'],
  ['UPSTREAM_CONCURRENCY', wholeNumber(1, 1_000), '1.5'],
  ['BANK_DATA_URL', url, 'bank.example', 'ftp://bank.example', 'http:bank.example'],
  ['BANK_DATA_TIMEOUT_MS', wholeNumber(1, 3_600_000), '10s'],
  ['BANK_DATA_FRESH_S', wholeNumber(0, 31_536_000), '1d'],
  ['BANK_DATA_STALE_S', wholeNumber(0, 315_360_000), '30d'],
  ['BANK_DATA_MONTHLY_ALLOWANCE', wholeNumber(0, 1_000_000_000), 'unlimited'],
  ['CACHE_MAX_MB', wholeNumber(1, 100_000), '0'],
  ['ESSAY_URL', url, '//essays.example'],
  ['ESSAY_TIMEOUT_MS', wholeNumber(1, 3_600_000), '2m'],
  [
    'ESSAY_MODES',
    'must be MODE=name pairs separated by commas, such as NEWS_REPORT=News report, each mode once; modes are STANDARD, ACADEMIC, PROFESSIONAL, NEWS_REPORT, DETAILED',
    'Academic',
    'academic=Academic',
    'NEWS=News',
    'ACADEMIC=',
    'ACADEMIC=a,,DETAILED=b',
    'ACADEMIC=a,ACADEMIC=b',
  ],
  [
    'ESSAY_TEXT_FIELD',
    'must be paths of fields, such as data.essay or data.choices[0].text, separated by commas; or $ for the whole body',
    'data..essay',
    'essay,data[x]',
    '.essay',
  ],
  ['ESSAY_ERROR_FIELD', 'must be the path of a field, such as data.essay or data.choices[0].text', 'error,code', 'a b'],
  ['ESSAY_KEEP_DAYS', wholeNumber(1, 3_650), '0'],
  ['ESSAY_ORDERS_RUNNING', wholeNumber(1, 1_000), '0'],
  ['ESSAY_ORDERS_PER_CALLER', wholeNumber(1, 100_000), '0'],
  ['ESSAY_CANCEL_SENT', switches, 'yes'],
  ['ESSAY_MONTHLY_ALLOWANCE', wholeNumber(0, 1_000_000_000), '1_000'],
  ['REPLICAS', wholeNumber(1, 10_000), '0'],
  ['LLM_URL', url, '127.0.0.1:11434'],
  ['ESSAY_SERVICE_ALLOWANCE', wholeNumber(0, 1_000_000_000), '-1'],
  ['ESSAY_WRITER_DELAY', wholeNumber(0, 10_000), '50ms'],
  ['GATEWAY_AUTH', 'must be "none" or not set', 'off'],
  ['ROUTER_SCOPES', scopes, 'bank-data,essays'],
  ['ANONYMOUS_SCOPES', scopes, 'all'],
  ['CALLER_REQUESTS_PER_MINUTE', wholeNumber(1, 10_000_000), '0'],
  ['BANK_DATA_PRICE', callPrice, '0.01', '0,01 EUR', '0 EUR', '0.0000001 EUR', '1 eur'],
  ['ESSAY_PRICE', callPrice, 'EUR 1'],
  ['CALLER_BANK_DATA_CALLS', callBudget, '1000', '0 EUR/day'],
  ['CALLER_ESSAY_CALLS', callBudget, '10/week'],
  ['MCP_CONSENT', 'must be always, never, or above: and a number of calls, such as above:20', 'sometimes'],
  ['MCP_TOOL_CALLS', wholeNumber(0, 1_000_000_000), 'many'],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', url, 'collector:4318'],
  ['OTEL_TRACES_EXPORTER', 'must be otlp or none', 'zipkin'],
  ['OTEL_METRICS_EXPORTER', 'must be otlp or none', 'prometheus'],
  ['OTEL_LOGS_EXPORTER', 'must be otlp or none', 'otlp,console'],
  ['OTEL_RESOURCE_ATTRIBUTES', `${pairs} deployment.environment.name=production`, 'production'],
  [
    'OTEL_TRACES_SAMPLER',
    'must be one of always_on, always_off, traceidratio, parentbased_always_on, parentbased_always_off, ' +
      'parentbased_traceidratio',
    'xray',
  ],
  ['OTEL_TRACES_SAMPLER_ARG', 'must be a number from 0 to 1, such as 0.01', '1%', '1.5'],
];

/** The variable, a wrong value, what follows the name in the message, and other variables. */
type Row = [variable: string, value: string, message: string, env?: Env];
const rows: Row[] = [
  ...shown.flatMap(([variable, message, ...values]) =>
    values.map((value): Row => [variable, value, `${message}, but is ${JSON.stringify(value)}`]),
  ),
  ...['127.0.0.1:6379', 'http://:seeded@redis', 'redis-sentinels://:seeded@a#main', 'not a seeded URL'].map(
    (value): Row => {
      return ['REDIS_URL', value, redisUrl(Object.values(redisForms).join(', or ')), storeSecret];
    },
  ),
  ...[
    'redis://',
    'redis://redis/0/1',
    'redis://:seeded@redis:99999',
    'redis://:seeded@redis/database',
    'redis://:seeded@redis?commandTimeout=0',
    'redis://:%zz-seeded@redis',
    'redis://:seeded@redis#main',
    'redis://:seeded@a,b',
  ].map((value): Row => ['REDIS_URL', value, redisUrl(redisForms.server), storeSecret]),
  ...[
    'redis-sentinel://:seeded@a,b',
    'redis-sentinel://:seeded@a,b/#',
    'redis-sentinel://:seeded@a,b#main?timeout=0',
    'rediss-sentinel://:seeded@a,#main',
    'redis-sentinel://:seeded@a/database#main',
  ].map((value): Row => ['REDIS_URL', value, redisUrl(redisForms.sentinel), storeSecret]),
  ...[
    'redis-cluster://:seeded@a,b/0',
    'redis-cluster://:seeded@a,b:99999',
    'rediss-cluster://:seeded@a,redis://b',
    'redis-cluster://:seeded@a#main',
  ].map((value): Row => ['REDIS_URL', value, redisUrl(redisForms.cluster), storeSecret]),
  ...[
    'BANK_DATA_API_KEY',
    'ESSAY_API_KEY',
    'REDIS_URL',
    'STORE_SECRET',
    'JWT_PUBLIC_KEY',
    'ROUTER_SECRET',
    'OTEL_EXPORTER_OTLP_HEADERS',
  ].map((variable): Row => {
    return [`${variable}_FILE`, '/missing', unreadable(variable)];
  }),
  ['BANK_DATA_URL', 'https://user:seeded@bank.example', url],
  ['BANK_DATA_URL', 'https://bank.example?key=seeded', url],
  ['BANK_DATA_URL', 'https://bank.example', 'BANK_DATA_API_KEY: missing; it is required because BANK_DATA_URL is set'],
  ['BANK_DATA_API_KEY', key, 'BANK_DATA_URL: missing; it is required because BANK_DATA_API_KEY is set'],
  ['BANK_DATA_API_KEY', 'seeded key', asciiKey],
  ['BANK_DATA_API_KEY', 'seeded', longKey],
  ['BANK_DATA_API_KEY', 'bank-data', randomKey],
  ['ESSAY_URL', 'https://essays.example', 'ESSAY_API_KEY: missing; it is required because ESSAY_URL is set'],
  ['ESSAY_API_KEY', key, 'ESSAY_URL: missing; it is required because ESSAY_API_KEY is set'],
  ['ESSAY_API_KEY', 'se\u00ebded-key', asciiKey],
  ['ESSAY_API_KEY', 'upstreamCalls', randomKey],
  ['REDIS_URL', 'redis://redis', 'STORE_SECRET: missing; it is required because REDIS_URL is set'],
  ['REPLICAS', '2', 'REDIS_URL: missing; it is required because REPLICAS is set'],
  ['STORE_SECRET', 'seeded', 'must have at least 16 characters'],
  ['STORE_SECRET', 'seeded secret of the store', asciiKey],
  ['STORE_SECRET', 'UPSTREAM_UNAVAILABLE', randomKey],
  ['LLM_URL', 'http://127.0.0.1:11434/v1', 'LLM_MODEL: missing; it is required because LLM_URL is set'],
  ['LLM_MODEL', 'llama3.2', 'LLM_URL: missing; it is required because LLM_MODEL is set'],
  ['LLM_API_KEY', key, 'LLM_URL: missing; it is required because LLM_API_KEY is set'],
  ['LLM_API_KEY', 'seeded', longKey],
  ['LLM_API_KEY_FILE', '/dev', unreadable('LLM_API_KEY', 'EISDIR')],
  ['LLM_API_KEY_FILE', '/dev/zero', unreadable('LLM_API_KEY', 'not a regular file')],
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
  ['JWT_ISSUER', 'issuer', `JWT_AUDIENCE: ${tokens}`, { JWT_JWKS_URL: 'https://issuer.example' }],
  ['JWT_AUDIENCE', 'gateway', `JWT_JWKS_URL: ${tokens}`, { JWT_ISSUER: 'issuer' }],
  ['CALLER_BANK_DATA_CALLS', '100 EUR/month', `${needsEuro}BANK_DATA_PRICE is not set`, { ESSAY_PRICE: '1 EUR' }],
  ['CALLER_ESSAY_CALLS', '100 EUR/month', `${needsEuro}ESSAY_PRICE is 0.05 USD`, { ESSAY_PRICE: '0.05 USD' }],
  ['ROUTER_SECRET', 'seeded-but-short', 'must have at least 32 characters'],
  ['ROUTER_SECRET', 'seeded-router-secret-of-32-chars,seeded-but-short', 'must have at least 32 characters'],
  ...['OTEL_METRICS_EXPORTER', 'OTEL_LOGS_EXPORTER'].map((variable): Row => {
    return [variable, 'otlp', `OTEL_EXPORTER_OTLP_ENDPOINT: missing; it is required because ${variable} is set`];
  }),
  ['OTEL_EXPORTER_OTLP_HEADERS', 'seeded', `${pairs} api-key=secret`],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'api-key=seeded%', `${pairs} api-key=secret`],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'api-key=seeded%0A', `${pairs} api-key=secret`],
];

export const wrongValues: readonly WrongValue[] = rows.map(([variable, value, message, env = {}]) => ({
  variable,
  env: { [variable]: value, ...env },
  problem: /^[A-Z_]+: missing/.test(message) ? message : `${variable}: ${message}`,
}));
