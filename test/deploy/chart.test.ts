import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import packageJson from '../../package.json' with { type: 'json' };
import { readConfig } from '../../src/gateway/config/read-config.ts';
import { knownVariables } from '../../src/gateway/config/variables.ts';
import {
  chartFile,
  chartFolder,
  type Manifest,
  renderChart,
  renderNotes,
  type Values,
} from '../support/deploy/chart.ts';

const secret = (key: string) => ({ name: 'ledgerquill', key });
const redis = { REDIS_URL: secret('redis-url'), STORE_SECRET: secret('store-secret') };

/** With every option in at least one of them. */
const examples: Record<string, Values> = {
  'the defaults': {},
  'an ingress, scaled automatically': {
    config: { BANK_DATA_URL: 'https://bank.example', ESSAY_URL: 'https://essays.example', ESSAY_TIMEOUT_MS: '60001' },
    secrets: {
      ...redis,
      BANK_DATA_API_KEY: secret('bank'),
      ESSAY_API_KEY: secret('essay'),
      GATEWAY_API_KEYS: secret('k'),
    },
    autoscaling: { enabled: true },
    ingress: {
      enabled: true,
      className: 'nginx',
      annotations: { 'nginx.ingress.kubernetes.io/proxy-read-timeout': '130' },
      hosts: ['gateway.example.com'],
      tls: [{ hosts: ['gateway.example.com'], secretName: 'tls' }],
    },
    metrics: {
      serviceMonitor: { enabled: true, labels: { release: 'prometheus' } },
      prometheusRule: { enabled: true, labels: { release: 'prometheus' } },
    },
    networkPolicy: { from: [{ namespaceSelector: { matchLabels: { name: 'ingress' } } }] },
    service: { annotations: { note: 'y' } },
  },
  'a route, three gateways': {
    replicas: 3,
    secrets: redis,
    config: { SHUTDOWN_DELAY_MS: '10000', SHUTDOWN_TIMEOUT_MS: '20000', CACHE_MAX_MB: '100000' },
    httpRoute: {
      enabled: true,
      annotations: { a: 'b' },
      parentRefs: [{ name: 'public' }],
      hostnames: ['a.example.com'],
    },
    image: { tag: '1.2.3', digest: `sha256:${'0a'.repeat(32)}` },
    secretsChecksum: 'f0'.repeat(32),
    imagePullSecrets: [{ name: 'pull' }],
    trustedDocuments: { configMap: 'documents' },
    certificateAuthority: { configMap: 'authority' },
    extraVolumes: [{ name: 'callers', configMap: { name: 'callers' } }],
    extraVolumeMounts: [{ name: 'callers', mountPath: '/etc/callers', readOnly: true }],
    persistence: { existingClaim: 'data' },
    podAnnotations: { a: 'true' },
    podLabels: { team: 'payments' },
    nodeSelector: { 'kubernetes.io/arch': 'amd64' },
    tolerations: [{ key: 'dedicated', operator: 'Exists' }],
    affinity: { podAntiAffinity: {} },
    priorityClassName: 'high',
  },
  'without all options': {
    metrics: { enabled: false },
    networkPolicy: { enabled: false },
    podDisruptionBudget: { enabled: false },
    topologySpread: { enabled: false },
  },
};

const rendered = Object.fromEntries(Object.entries(examples).map(([name, values]) => [name, renderChart(values)]));
const withIngress = rendered['an ingress, scaled automatically'] ?? [];
const find = (manifests: Manifest[] | undefined, kind: string, name = 'ledgerquill') =>
  manifests?.find((manifest) => manifest.kind === kind && manifest.metadata.name === name)?.spec;
const podOf = (manifests: Manifest[]) => find(manifests, 'Deployment').template.spec;
const environmentOf = (manifests: Manifest[]): Record<string, string> =>
  Object.fromEntries(
    podOf(manifests).containers[0].env.map(({ name, value }: { name: string; value: string }) => [name, value]),
  );

describe('the rendered chart', () => {
  it('has only fields that Kubernetes has, of their types', () => {
    const manifests = Object.values(rendered).flat();
    const kinds = new Set(manifests.map(({ kind }) => kind));
    expect([...kinds].toSorted()).toEqual([...Object.keys(kubernetesTypes), ...definedByOthers].toSorted());
    // One field that does not exist, which is the only one that the compiler must find.
    const [wrong] = renderChart();
    expect(wrong?.kind).toBe('Deployment');
    wrong?.spec.template.spec.containers.push({ name: 'other', imagePullPolice: 'Always' });
    const errors = compilerErrors([...manifests, ...(wrong ? [wrong] : [])]).match(/error TS.*/g);
    expect(errors).toEqual([expect.stringContaining('imagePullPolice')]);
  });

  it.each(Object.entries(rendered))('has unique names in its namespace, and selects its pods: %s', (_, manifests) => {
    const names = manifests.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    expect(new Set(names).size).toBe(names.length);
    expect(new Set(manifests.map(({ metadata }) => metadata.namespace))).toEqual(new Set(['payments']));
    const { labels } = find(manifests, 'Deployment').template.metadata;
    const selectors = manifests.flatMap(({ kind, spec }) => {
      if (kind === 'Service') return [spec.selector];
      if (kind === 'PodDisruptionBudget' || kind === 'Deployment') return [spec.selector.matchLabels];
      return kind === 'NetworkPolicy' ? [spec.podSelector.matchLabels] : [];
    });
    for (const selector of selectors) expect(labels).toMatchObject(selector);
  });

  it.each(Object.entries(rendered))('runs with few rights and a read-only root: %s', (_, manifests) => {
    const pod = podOf(manifests);
    expect(pod).toMatchObject({
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } },
    });
    expect(pod.containers[0].securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    const volumes = pod.volumes.map(({ name }: { name: string }) => name);
    expect(pod.containers[0].volumeMounts.map(({ name }: { name: string }) => name)).toEqual(volumes);
  });

  it('has the alert rules, as Prometheus reads them', () => {
    const rules = parse(readFileSync(new URL('../../deploy/prometheus/alerts.yaml', import.meta.url), 'utf8'));
    expect(find(withIngress, 'PrometheusRule')).toEqual(rules);
  });

  it('trusts a private authority, and mounts other volumes', () => {
    const manifests = rendered['a route, three gateways'] ?? [];
    expect(environmentOf(manifests).NODE_EXTRA_CA_CERTS).toBe('/etc/ledgerquill/ca/ca.crt');
    const mounts = podOf(manifests).containers[0].volumeMounts;
    expect(mounts.find(({ name }: { name: string }) => name === 'certificate-authority')).toMatchObject({
      mountPath: '/etc/ledgerquill/ca',
    });
    expect(podOf(manifests).volumes.at(-1)).toEqual({ name: 'callers', configMap: { name: 'callers' } });
  });

  it('stops a single gateway with a volume before the next one starts, and no others', () => {
    const strategyOf = (values: Values) => find(renderChart(values), 'Deployment').strategy;
    const persistence = { existingClaim: 'data' };
    expect(strategyOf({ persistence })).toEqual({ type: 'Recreate' });
    const rolling = { rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } };
    expect([strategyOf({}), strategyOf({ persistence, replicas: 2, secrets: redis })]).toEqual([rolling, rolling]);
  });

  it('has the image of its version, or the one of a digest', () => {
    const imageOf = (image: Values) => podOf(renderChart({ image })).containers[0].image;
    const digest = `sha256:${'0a'.repeat(32)}`;
    expect(imageOf({})).toBe(`ledgerquill:${packageJson.version}`);
    expect(imageOf({ digest })).toBe(`ledgerquill:${packageJson.version}@${digest}`);
    expect(imageOf({ repository: 'images.example.com:5000/l', tag: '1.2.3', digest })).toBe(
      `images.example.com:5000/l:1.2.3@${digest}`,
    );
  });

  it('starts new pods when the checksum of its secrets changes', () => {
    const annotationsOf = (values: Values) => find(renderChart(values), 'Deployment').template.metadata.annotations;
    const secretsChecksum = 'f0'.repeat(32);
    expect(annotationsOf({})).toBeUndefined();
    expect(annotationsOf({ secretsChecksum })).toEqual({ 'checksum/secrets': secretsChecksum });
    expect(annotationsOf({ secretsChecksum, podAnnotations: { a: 'true' } })).toEqual({
      'checksum/secrets': secretsChecksum,
      a: 'true',
    });
  });

  it('is spread over zones and nodes, and survives maintenance', () => {
    expect(podOf(withIngress).topologySpreadConstraints).toHaveLength(2);
    expect(find(withIngress, 'Deployment').replicas).toBeUndefined();
    expect(find(withIngress, 'PodDisruptionBudget').maxUnavailable).toBe(1);
    expect(find(withIngress, 'HorizontalPodAutoscaler')).toMatchObject({ minReplicas: 2, maxReplicas: 6 });
  });

  it('publishes GraphQL only, and metrics in the cluster only', () => {
    const { rules } = find(withIngress, 'Ingress');
    expect(rules.map(({ http }: { http: Values }) => http.paths)).toMatchObject([[{ path: '/graphql' }]]);
    const route = find(rendered['a route, three gateways'], 'HTTPRoute');
    expect(route.rules[0].matches).toEqual([{ path: { type: 'PathPrefix', value: '/graphql' } }]);
    expect(route.rules[0].backendRefs).toEqual([{ name: 'ledgerquill', port: 80 }]);
    const ports = (name: string) =>
      find(rendered['the defaults'], 'Service', name).ports.map(({ targetPort }: Values) => targetPort);
    expect([ports('ledgerquill'), ports('ledgerquill-metrics')]).toEqual([['http'], ['metrics']]);
  });

  it('lets Prometheus keep the labels of the gateway', () => {
    const monitor = find(withIngress, 'ServiceMonitor');
    // Otherwise the label service would be the name of the Kubernetes service, and the alerts by service would be wrong.
    expect(monitor).toMatchObject({ jobLabel: 'app.kubernetes.io/name', endpoints: [{ honorLabels: true }] });
  });
});

describe('the gateway in the chart', () => {
  it.each(Object.entries(rendered))('gets only variables that it knows: %s', (_, manifests) => {
    const known = [...knownVariables, 'NODE_OPTIONS', 'NODE_EXTRA_CA_CERTS'];
    expect(Object.keys(environmentOf(manifests)).filter((name) => !known.includes(name))).toEqual([]);
  });

  it('may get every secret that can be a file, and no other', () => {
    const schema = JSON.parse(readFileSync(new URL('values.schema.json', chartFolder), 'utf8'));
    const files = knownVariables.filter((name) => name.endsWith('_FILE')).map((name) => name.replace(/_FILE$/, ''));
    expect(Object.keys(schema.properties.secrets.properties).toSorted()).toEqual(files.toSorted());
  });

  it('finds each secret where it is mounted', () => {
    const mount = podOf(withIngress).containers[0].volumeMounts.find(({ name }: Values) => name === 'secrets');
    const { sources } = podOf(withIngress).volumes.find(({ name }: Values) => name === 'secrets').projected;
    type Source = { secret: { items: { path: string }[] } };
    const paths = sources.map(({ secret: { items } }: Source) => `${mount.mountPath}/${items[0]?.path}`);
    const files = Object.entries(environmentOf(withIngress)).filter(([name]) => name.endsWith('_FILE'));
    expect(files).toHaveLength(5);
    expect(paths).toEqual(files.map(([, path]) => path));
  });

  it.each(Object.entries(rendered))('has the time to stop that it computes itself: %s', (_, manifests) => {
    const variables = Object.entries(environmentOf(manifests)).filter(([name]) => /_MS$/.test(name));
    const config = readConfig({ HOST: '0.0.0.0', ...Object.fromEntries(variables) });
    const seconds = Math.ceil((config.shutdownDelayMs + config.shutdownTimeoutMs) / 1_000) + 5;
    expect(podOf(manifests).terminationGracePeriodSeconds).toBe(seconds);
  });

  it('stops receiving requests before it stops, by its default', () => {
    const { periodSeconds, timeoutSeconds, failureThreshold } = podOf(renderChart()).containers[0].readinessProbe;
    const { shutdownDelayMs } = readConfig({ HOST: '0.0.0.0' });
    expect((periodSeconds + timeoutSeconds) * failureThreshold * 1_000).toBeLessThan(shutdownDelayMs);
  });

  it('serves the hosts of its ingress and the names of its service', () => {
    const own = 'ledgerquill,ledgerquill.payments,ledgerquill.payments.svc,ledgerquill.payments.svc.cluster.local';
    expect(environmentOf(renderChart()).ALLOWED_HOSTS).toBe(own);
    expect(environmentOf(withIngress).ALLOWED_HOSTS).toBe(`${own},gateway.example.com`);
    expect(environmentOf(renderChart({ config: { ALLOWED_HOSTS: '*' } })).ALLOWED_HOSTS).toBe('*');
  });

  it('uses its share of an allowance: REPLICAS is the largest number of gateways', () => {
    expect(Object.values(rendered).map((manifests) => environmentOf(manifests).REPLICAS)).toEqual(['1', '6', '3', '1']);
  });
});

describe('values', () => {
  it.each<[string, Values, string | RegExp]>([
    ['a digest that is a tag', { image: { digest: '1.2.3' } }, '/image/digest: must match pattern'],
    ['a secret as its checksum', { secretsChecksum: 'a-secret' }, '/secretsChecksum: must match pattern'],
    ['an unknown value', { replica: 2 }, /must NOT have additional properties/],
    ['a number as a variable', { config: { CACHE_MAX_MB: 1_000_000 } }, '/config/CACHE_MAX_MB: must be string'],
    ['a secret as a variable', { config: { ESSAY_API_KEY: 'abc' } }, '/config: must NOT be valid'],
    ['a secret without its key', { secrets: { ESSAY_API_KEY: { name: 'a' } } }, "must have required property 'key'"],
    ['Redis without its secret', { secrets: { REDIS_URL: secret('a') } }, 'must have property STORE_SECRET'],
    ['metrics on the port of GraphQL', { metrics: { port: 4000 } }, '/metrics/port: must NOT be valid'],
    ['an ingress without hosts', { ingress: { enabled: true } }, 'must NOT have fewer than 1 items'],
    ['a route without a gateway', { httpRoute: { enabled: true, hostnames: ['a.example'] } }, '/httpRoute/parentRefs'],
    ['several gateways without Redis', { replicas: 2 }, 'Several gateways need secrets.REDIS_URL'],
    ['several gateways later', { autoscaling: { enabled: true } }, 'Several gateways need secrets.REDIS_URL'],
    [
      'both an ingress and a route',
      {
        ingress: { enabled: true, hosts: ['a.example'] },
        httpRoute: { enabled: true, parentRefs: [{ name: 'a' }], hostnames: ['a.example'] },
      },
      'Enable either ingress or httpRoute.',
    ],
  ])('are refused: %s', (_, values, message) => {
    expect(() => renderChart(values)).toThrow(message);
  });

  it('explain what is lost without Redis', () => {
    expect(renderNotes({})).toContain('Essays and counters are lost with the pod');
    expect(renderNotes({ secrets: redis })).not.toContain('lost');
  });
});

it('has the version of the gateway', () => {
  expect(chartFile).toMatchObject({ version: packageJson.version, appVersion: packageJson.version });
  expect(parse(readFileSync('deploy/helm/ledgerquill/values.yaml', 'utf8')).image.tag).toBe('');
});

const kubernetesTypes: Record<string, string> = {
  Deployment: 'apps/v1',
  HorizontalPodAutoscaler: 'autoscaling/v2',
  Ingress: 'networking/v1',
  NetworkPolicy: 'networking/v1',
  PodDisruptionBudget: 'policy/v1',
  Service: 'core/v1',
};
/** Of the Gateway API and the Prometheus Operator, whose types need Node.js 22. */
const definedByOthers = ['HTTPRoute', 'PrometheusRule', 'ServiceMonitor'];

/** What the compiler finds in the objects, as values of the types of Kubernetes. */
function compilerErrors(manifests: Manifest[]): string {
  const folder = new URL('../../node_modules/.cache/chart/', import.meta.url);
  mkdirSync(folder, { recursive: true });
  const imports = Object.entries(kubernetesTypes).map(
    ([kind, path]) => `import type { ${kind} } from 'kubernetes-types/${path}.d.ts';`,
  );
  const constants = manifests
    .filter(({ kind }) => kind in kubernetesTypes)
    .map((manifest, index) => `export const m${index}: ${manifest.kind} = ${JSON.stringify(manifest, null, 1)};`);
  writeFileSync(new URL('manifests.ts', folder), [...imports, ...constants].join('\n'));
  const options = ['--ignoreConfig', '--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext', '--types', ''];
  const args = [...options, fileURLToPath(new URL('manifests.ts', folder))];
  const { stdout, stderr } = spawnSync('node_modules/.bin/tsc', args, { encoding: 'utf8' });
  return stdout + stderr;
}
