import { describe, expect, it } from 'vitest';
import { ConfigError } from '../../../src/base/errors.ts';
import type { Environment } from '../../../src/base/variables/read-variables.ts';
import { readBankDataServiceConfig, readEssayServiceConfig } from '../../../src/base/variables/service-config.ts';
import { draftsEssays, readConfig } from '../../../src/gateway/config/read-config.ts';

const secret = 'seeded-secret-value';

function readProblems(env: Environment, read: (env: Environment) => unknown = readConfig): string {
  try {
    read(env);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  return '';
}

describe('readConfig', () => {
  it('has a default for every variable', () => {
    expect(readConfig({})).toEqual({
      host: '127.0.0.1',
      port: 4000,
      paidServices: [],
      audit: null,
      logLevel: 'info',
      requestLogPerSecond: 100,
      metrics: null,
      operatorKey: null,
      revision: '',
      dataDir: '.data',
      store: {
        redis: null,
        lookUpTimeoutMs: 100,
        countTimeoutMs: null,
        replicas: null,
        secret: null,
        oldSecret: null,
        redisFile: null,
        secretFile: null,
        oldSecretFile: null,
      },
      shutdownDelayMs: 5_000,
      shutdownTimeoutMs: 125_000,
      maxBufferedBytes: 64_000_000,
      check: { maxRequests: 2, maxBytes: 10_000_000, maxIbans: 10_000 },
      connections: { maxConnections: 1_000, clientTimeoutMs: 20_000 },
      corsOrigins: [],
      allowedHosts: [],
      access: {
        apiKeys: [],
        apiKeysFile: null,
        jwt: null,
        router: null,
        anonymousScopes: ['bank-data', 'essays'],
        commonScopes: ['introspection', 'graphiql'],
        prices: { 'bank-data': null, essays: null },
        defaultLimits: { requestsPerMinute: null, bankDataCalls: null, essayCalls: null, maxQueryCost: null },
      },
      trustedDocuments: null,
      otlp: null,
      maxIbansPerQuery: 1_000,
      hasMcp: true,
      maxQueryCost: 100_000,
      maxReplyBytes: 8_000_000,
      upstreamConcurrency: 64,
      bankData: {
        upstream: null,
        isSelfHosted: true,
        timeoutMs: 10_000,
        freshMs: 86_400_000,
        maxAgeMs: 2_592_000_000,
        lookUpBytes: 28_000_000,
        keptReplyBytes: 4_000_000,
        monthlyAllowance: null,
      },
      essays: {
        upstream: null,
        timeoutMs: 120_000,
        modeNames: {
          STANDARD: 'Standard',
          ACADEMIC: 'Academic',
          PROFESSIONAL: 'Professional',
          NEWS_REPORT: 'Journalistic',
          DETAILED: 'Detailed',
        },
        declared: { texts: null, error: null },
        monthlyAllowance: null,
        keepDays: 30,
        orders: { maxRunning: 16, maxPerCaller: 100, cancelsSent: false },
      },
      essayService: { llm: null, monthlyAllowance: null, wordDelayMs: 0 },
    });
  });

  const redis = {
    addresses: [{ host: 'redis.example', port: 6379 }],
    username: '',
    password: 'pass',
    database: 2,
    tls: true,
  };
  it.each([
    [
      'treats an empty variable as absent',
      { PORT: '', BANK_DATA_URL: ' ' },
      { port: 4000, bankData: { upstream: null } },
    ],
    ['trims values', { HOST: ' localhost ' }, { host: 'localhost' }],
    [
      'reads an upstream, without trailing slashes in its URL',
      { BANK_DATA_URL: 'https://bank.example/v1/', BANK_DATA_API_KEY: 'first-key' },
      { bankData: { upstream: { url: 'https://bank.example/v1', apiKey: 'first-key' } } },
    ],
    [
      'reads the upstream of essays',
      { ESSAY_URL: 'http://essay.example', ESSAY_API_KEY: 'second-key' },
      { essays: { upstream: { url: 'http://essay.example', apiKey: 'second-key' } } },
    ],
    [
      'parses REDIS_URL',
      { REDIS_URL: 'rediss://:pass@redis.example/2', STORE_SECRET: 'long-enough-secret' },
      { store: { redis, lookUpTimeoutMs: 100, countTimeoutMs: 100, replicas: null, secret: 'long-enough-secret' } },
    ],
    [
      'counts the gateways that share Redis',
      { REPLICAS: '3', REDIS_URL: 'redis://redis.example', STORE_SECRET: 'long-enough-secret' },
      { store: { replicas: 3 } },
    ],
    [
      'reads lists of origins',
      { CORS_ORIGINS: 'https://a.example, http://localhost:5173' },
      { corsOrigins: ['https://a.example', 'http://localhost:5173'] },
    ],
  ])('%s', (_, env: Environment, expected) => {
    expect(readConfig(env)).toMatchObject(expected);
  });

  it.each([
    ['127.0.0.1', true, 0],
    ['127.0.0.1', false, 5_000],
    ['localhost', false, 5_000],
  ])('serves requests after a stop signal, with HOST=%s in a terminal (%s) for %d ms', (HOST, isTerminal, delayMs) => {
    expect(readConfig({ HOST }, { isTerminal }).shutdownDelayMs).toBe(delayMs);
    expect(readConfig({ HOST, SHUTDOWN_DELAY_MS: '7' }, { isTerminal }).shutdownDelayMs).toBe(7);
  });

  it('reports all problems at once, and no secret that was assigned to another variable', () => {
    const problems = readProblems({ PORT: secret, BANK_DATA_API_KEY: `${secret} with space`, LOG_LEVEL: secret });
    for (const name of ['PORT', 'BANK_DATA_API_KEY', 'LOG_LEVEL']) expect(problems).toContain(`${name}: `);
    expect(problems).not.toContain(secret);
  });
});

describe('a gateway with paid bank data', () => {
  const paid = { BANK_DATA_URL: 'https://bank.example', BANK_DATA_API_KEY: secret };

  it.each<[boolean, string, Environment]>([
    [true, 'without an essay service and a language model', paid],
    [false, 'with a language model', { ...paid, LLM_URL: 'https://llm.example/v1', LLM_MODEL: 'm' }],
    [false, 'with an essay service', { ...paid, ESSAY_URL: 'https://essay.example', ESSAY_API_KEY: secret }],
    [false, 'that is none, but our own service', { ...paid, BANK_DATA_SELF_HOSTED: 'on' }],
    [false, 'that is none', {}],
  ])('drafts essays (%s) %s', (expected, _, env) => {
    expect(draftsEssays(readConfig(env))).toBe(expected);
  });
});

describe('a gateway that other machines can reach', () => {
  const paid = { BANK_DATA_URL: 'https://bank.example', BANK_DATA_API_KEY: secret };
  const paidModel = { LLM_URL: 'https://llm.example/v1', LLM_API_KEY: secret, LLM_MODEL: 'm' };

  it.each([
    ['0.0.0.0', paid],
    ['::', paid],
    ['192.168.1.7', { ESSAY_URL: 'https://essay.example', ESSAY_API_KEY: secret }],
    ['gateway.internal', paidModel],
  ])('on %s does not accept %j', (HOST, env) => {
    const problems = readProblems({ HOST, ...env });
    expect(problems).toContain('HOST: must be a loopback address');
    expect(problems).toContain('GATEWAY_AUTH=none');
    expect(problems).toContain('ALLOWED_HOSTS: missing');
    expect(problems).not.toContain(secret);
  });

  it.each([paid, paidModel])('requires the host names that clients use, with %j', (env) => {
    const problems = readProblems({ HOST: '0.0.0.0', GATEWAY_AUTH: 'none', ...env });
    expect(problems).toContain('ALLOWED_HOSTS: missing');
    expect(problems).toContain('such as gateway.example.com, or * for any');
    expect(problems).not.toContain('HOST: must be');
  });

  it.each([
    [{ HOST: '0.0.0.0' }],
    [{ HOST: '0.0.0.0', GATEWAY_AUTH: 'none', ALLOWED_HOSTS: 'gateway.example', ...paid }],
    [{ HOST: '0.0.0.0', GATEWAY_AUTH: 'none', ALLOWED_HOSTS: '*', ...paid }],
    [{ HOST: '0.0.0.0', GATEWAY_API_KEYS: `shop:${'0'.repeat(64)}:bank-data`, ALLOWED_HOSTS: '*', ...paid }],
    [{ HOST: '127.0.0.1', ...paid }],
    [{ HOST: 'localhost', ...paid }],
    [{ HOST: '::1', ...paid }],
    [{ HOST: '0.0.0.0', LLM_URL: 'http://10.0.0.5:11434/v1', LLM_MODEL: 'm' }],
  ])('may have the configuration %j', (env) => {
    expect(readProblems(env)).toBe('');
  });
});

describe('a self-hosted service as its own process', () => {
  it.each([
    ['bank data', readBankDataServiceConfig, 'BANK_DATA_API_KEY', {}, { host: '127.0.0.1' }],
    [
      'essays',
      readEssayServiceConfig,
      'ESSAY_API_KEY',
      { ESSAY_SERVICE_ALLOWANCE: '100', ESSAY_WRITER_DELAY: '50' },
      { llm: null, monthlyAllowance: 100, wordDelayMs: 50 },
    ],
  ])('requires the key that its callers send: %s', (_, read, name, env, expected) => {
    expect(readProblems({}, read)).toContain(`${name}: missing; the key that callers`);
    expect(read({ [name]: 'some-key', ...env })).toMatchObject({ ...expected, apiKey: 'some-key' });
  });
});
