import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import {
  createEngine,
  type FuncMap,
  sprigConversions,
  sprigDefaults,
  sprigFlow,
  sprigLists,
  sprigMath,
  sprigStrings,
} from '@promptctl/go-template-js';
import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments, stringify } from 'yaml';
import packageJson from '../../package.json' with { type: 'json' };
import { readConfig } from '../../src/gateway/config/read-config.ts';
import { knownVariables } from '../../src/gateway/config/variables.ts';
import { definitions } from '../../src/gateway/telemetry/metrics/definitions.ts';

/* Renders the Helm chart as `helm template ledgerquill --namespace payments` does. */

type Values = { [name: string]: unknown };

/** A rendered Kubernetes object. */
interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace?: string; labels: Record<string, string> };
  // biome-ignore lint/suspicious/noExplicitAny: of any kind; the compiler checks it against the kind's type.
  spec: any;
}

const chartFolder = new URL('../../deploy/helm/ledgerquill/', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, chartFolder), 'utf8');
const chartFile: { version: string; appVersion: string } = parse(read('Chart.yaml'));
const defaults: Values = parse(read('values.yaml'));
const isValidValues = new Ajv({ strict: false }).compile(JSON.parse(read('values.schema.json')));

/** @throws Error that lists the values that values.schema.json rejects, or the message of the template */
function renderChart(values: Values = {}): Manifest[] {
  const merged = mergeValues(defaults, values);
  if (!isValidValues(merged))
    throw new Error(isValidValues.errors?.map(({ instancePath, message }) => `${instancePath}: ${message}`).join('\n'));
  const scope = {
    Values: merged,
    Chart: { Name: 'ledgerquill', Version: chartFile.version, AppVersion: chartFile.appVersion },
    Release: { Name: 'ledgerquill', Namespace: 'payments', Service: 'Helm' },
  };
  const templates = readdirSync(new URL('templates/', chartFolder))
    .filter((name) => name.endsWith('.yaml'))
    .sort();
  return templates.flatMap((name) => {
    const text = render(read(`templates/${name}`), scope);
    return parseAllDocuments(text, { version: '1.1' }).flatMap((document) => {
      if (document.errors[0]) throw new Error(`${name}: ${document.errors[0].message}\n${text}`);
      return (document.toJS() as Manifest | null) ?? [];
    });
  });
}

function renderNotes(values: Values): string {
  const Release = { Name: 'ledgerquill', Namespace: 'payments' };
  const Chart = { Name: 'ledgerquill', AppVersion: chartFile.appVersion };
  return render(read('templates/NOTES.txt'), { Values: mergeValues(defaults, values), Release, Chart });
}

/** Objects are merged, as Helm does, null removes a value, and everything else is replaced. */
function mergeValues(base: Values, values: Values): Values {
  const isObject = (value: unknown): value is Values =>
    typeof value === 'object' && value !== null && !Array.isArray(value);
  const merged = { ...base };
  for (const [name, value] of Object.entries(values)) {
    const before = merged[name];
    if (value === null) delete merged[name];
    else merged[name] = isObject(before) && isObject(value) ? mergeValues(before, value) : value;
  }
  return merged;
}

const helpers = read('templates/_helpers.tpl');

function render(template: string, scope: object): string {
  return engine
    .parse(helpers + template.replaceAll('.Files.Get', 'fileOf'))
    .evaluate(scope)
    .join('');
}

/** The functions of Helm that Sprig does not have. `fileOf` is `.Files.Get`. */
const helmFunctions: FuncMap = {
  fileOf: { argTypes: ['string'], returnType: 'string', fn: read },
  include: {
    argTypes: ['string', 'value'],
    returnType: 'string',
    fn: (name: string, scope: object) => render(`{{ template "${name}" . }}`, scope).trimStart(),
  },
  toYaml: {
    argTypes: ['value'],
    returnType: 'string',
    fn: (value: unknown) => stringify(value, { version: '1.1' }).trimEnd(),
  },
};

const engine = createEngine<string>({
  fromString: (text) => text,
  funcs: {
    ...sprigConversions(),
    ...sprigDefaults(),
    ...sprigFlow(),
    ...sprigLists(),
    ...sprigMath(),
    ...sprigStrings(),
    ...helmFunctions,
  },
});

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
  'a StatefulSet, on OpenShift': {
    replicas: 2,
    secrets: redis,
    persistence: { size: '1Gi', storageClassName: 'fast' },
    podSecurityContext: { runAsUser: null, runAsGroup: null, fsGroup: null },
    autoscaling: { enabled: true, maxReplicas: 3, eventLoopUtilization: '' },
    ingress: { enabled: true, hosts: ['gateway.example.com'] },
    config: { MCP: 'off' },
    metrics: { prometheusRule: { enabled: true, runbookBase: 'https://git.example.com/l/' } },
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
const onOpenShift = rendered['a StatefulSet, on OpenShift'] ?? [];
const find = (manifests: Manifest[] | undefined, kind: string, name = 'ledgerquill') =>
  manifests?.find((manifest) => manifest.kind === kind && manifest.metadata.name === name)?.spec;
const gatewayOf = (manifests: Manifest[]) => find(manifests, 'Deployment') ?? find(manifests, 'StatefulSet');
const podOf = (manifests: Manifest[]) => gatewayOf(manifests).template.spec;
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
    const { labels } = gatewayOf(manifests).template.metadata;
    const selectors = manifests.flatMap(({ kind, spec }) => {
      if (kind === 'Service') return [spec.selector];
      if (['PodDisruptionBudget', 'Deployment', 'StatefulSet'].includes(kind)) return [spec.selector.matchLabels];
      return kind === 'NetworkPolicy' ? [spec.podSelector.matchLabels] : [];
    });
    for (const selector of selectors) expect(labels).toMatchObject(selector);
  });

  it.each(Object.entries(rendered))('runs with few rights and a read-only root: %s', (_, manifests) => {
    const pod = podOf(manifests);
    expect(pod).toMatchObject({
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
    });
    expect(pod.containers[0].securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    const claims = gatewayOf(manifests).volumeClaimTemplates?.map(({ metadata }: Values) => metadata) ?? [];
    const volumes = [...claims, ...pod.volumes].map(({ name }: { name: string }) => name);
    expect(pod.containers[0].volumeMounts.map(({ name }: { name: string }) => name)).toEqual(volumes);
  });

  it('has the alert rules, as Prometheus reads them', () => {
    const rules = parse(readFileSync(new URL('../../deploy/prometheus/alerts.yaml', import.meta.url), 'utf8'));
    expect(find(withIngress, 'PrometheusRule')).toEqual(rules);
  });

  it('has a user and groups, except on OpenShift, which chooses them', () => {
    const ids = ({ runAsUser, runAsGroup, fsGroup }: Values) => [runAsUser, runAsGroup, fsGroup];
    expect(ids(podOf(renderChart()).securityContext)).toEqual([1000, 1000, 1000]);
    expect(Object.keys(podOf(onOpenShift).securityContext)).toEqual([
      'runAsNonRoot',
      'fsGroupChangePolicy',
      'seccompProfile',
    ]);
  });

  it('keeps the audit trail: in a volume for each gateway, or else on standard output', () => {
    const { volumeClaimTemplates, serviceName, replicas } = find(onOpenShift, 'StatefulSet');
    expect(volumeClaimTemplates).toMatchObject([
      {
        metadata: { name: 'data' },
        spec: { storageClassName: 'fast', resources: { requests: { storage: '1Gi' } } },
      },
    ]);
    expect(find(onOpenShift, 'Service', serviceName)).toBeDefined();
    expect(replicas).toBeUndefined();
    expect(find(onOpenShift, 'HorizontalPodAutoscaler').scaleTargetRef.kind).toBe('StatefulSet');
    const keys = podOf(onOpenShift).topologySpreadConstraints.map(({ matchLabelKeys }: Values) => matchLabelKeys);
    expect(keys).toEqual([['controller-revision-hash'], ['controller-revision-hash']]);
    const trailOf = (values: Values) => environmentOf(renderChart(values)).AUDIT_DAYS;
    expect(trailOf({})).toBe('stdout');
    expect(trailOf({ replicas: 2, secrets: redis })).toBe('stdout');
    expect([{ size: '1Gi' }, { existingClaim: 'data' }].map((persistence) => trailOf({ persistence }))).toEqual([
      undefined,
      undefined,
    ]);
    expect(trailOf({ config: { AUDIT_DAYS: '30' } })).toBe('30');
  });

  it('listens on IPv6, too', () => {
    expect(environmentOf(renderChart()).METRICS_HOST).toBe('::');
    expect(readFileSync('Dockerfile', 'utf8')).toMatch(/^ENV .*\bHOST=:: /m);
  });

  it('scales by the event loop, or by the CPU', () => {
    const [metric] = find(withIngress, 'HorizontalPodAutoscaler').metrics;
    expect(metric.pods).toEqual({
      metric: { name: 'nodejs_eventloop_utilization_ratio' },
      target: { type: 'AverageValue', averageValue: '700m' },
    });
    expect(Object.keys(definitions)).toContain(metric.pods.metric.name);
    expect(find(onOpenShift, 'HorizontalPodAutoscaler').metrics).toEqual([
      { type: 'Resource', resource: { name: 'cpu', target: { type: 'AverageValue', averageValue: '700m' } } },
    ]);
  });

  it('begins the address of each runbook as configured', () => {
    const rules = find(onOpenShift, 'PrometheusRule').groups.flatMap(({ rules }: Values) => rules);
    const urls: string[] = rules.flatMap(({ annotations }: { annotations?: Values }) => annotations?.runbook_url ?? []);
    expect(urls.length).toBeGreaterThan(30);
    expect(urls.filter((url) => !url.startsWith('https://git.example.com/l/docs/incidents.md#'))).toEqual([]);
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

  it('publishes GraphQL, and what agents use unless that is off, and metrics in the cluster only', () => {
    const published = ['/graphql', '/mcp', '/.well-known/oauth-protected-resource'];
    const pathsOf = (manifests: Manifest[]) =>
      find(manifests, 'Ingress').rules[0].http.paths.map(({ path }: Values) => path);
    expect(pathsOf(withIngress)).toEqual(published);
    expect(pathsOf(onOpenShift)).toEqual(['/graphql']);
    const route = find(rendered['a route, three gateways'], 'HTTPRoute');
    expect(route.rules[0].matches).toEqual(published.map((value) => ({ path: { type: 'PathPrefix', value } })));
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
    expect(Object.values(rendered).map((manifests) => environmentOf(manifests).REPLICAS)).toEqual([
      '1',
      '6',
      '3',
      '3',
      '1',
    ]);
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
    [
      'a volume and a claim',
      { persistence: { size: '1Gi', existingClaim: 'data' } },
      '/persistence: must NOT be valid',
    ],
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
  StatefulSet: 'apps/v1',
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
