import { describe, expect, it } from 'vitest';
import { findUnknownVariables } from '../../src/cli/describe-variables.ts';
import { knownVariables } from '../../src/gateway/config/variables.ts';

describe('an unknown variable', () => {
  it.each([
    ['BANK_DATA_APIKEY', 'BANK_DATA_APIKEY (BANK_DATA_API_KEY?)'],
    ['ESSAY_TIMEOUT', 'ESSAY_TIMEOUT (ESSAY_TIMEOUT_MS?)'],
    ['ESSAYS_URL', 'ESSAYS_URL (ESSAY_URL?)'],
    ['LOGLEVEL', 'LOGLEVEL (LOG_LEVEL?)'],
    ['log_level', 'log_level (LOG_LEVEL?)'],
    ['REDIS_URI', 'REDIS_URI (REDIS_URL?)'],
    ['GATEWAY_PORT', 'GATEWAY_PORT (PORT?)'],
    ['LEDGERQUILL_HOST', 'LEDGERQUILL_HOST (HOST?)'],
    ['SHUTDOWN_TIMOUT_MS', 'SHUTDOWN_TIMOUT_MS (SHUTDOWN_TIMEOUT_MS?)'],
    ['CACHE_MAX_MEGABYTES', 'CACHE_MAX_MEGABYTES (CACHE_MAX_MB?)'],
    ['GATEWAY_RATE_LIMIT', 'GATEWAY_RATE_LIMIT'],
    ['ESSAY_LANGUAGE', 'ESSAY_LANGUAGE'],
  ])('%s is found, with the likely name', (name, expected) => {
    expect(findUnknownVariables({ [name]: 'seeded-secret' })).toEqual([expected]);
  });

  it.each([
    ...knownVariables,
    ...'HOME PATH HOSTNAME SHELL PWD TERM NODE_ENV NODE_OPTIONS npm_config_loglevel EDITOR REDIS_PASSWORD'.split(' '),
    ...'LOG_FORMAT MAX_WORKERS OTEL_SERVICE_NAME DATABASE_URL TZ CI LANG POD_NAME LEDGERQUILL_KEY'.split(' '),
    ...'ESSAY_WRITER_SERVICE_HOST GATEWAY_PORT_4000_TCP_ADDR GATEWAY_SERVICE_PORT_HTTP'.split(' '),
  ])('is not %s, which is known or of another program', (name) => {
    expect(findUnknownVariables({ [name]: 'value' })).toEqual([]);
  });

  it('is neither the address of a service of Kubernetes nor an empty one', () => {
    expect(findUnknownVariables({ GATEWAY_PORT: 'tcp://10.0.0.1:4000', BANK_DATA_APIKEY: '' })).toEqual([]);
  });
});
