import { readdirSync, readFileSync } from 'node:fs';
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
import { parse, parseAllDocuments, stringify } from 'yaml';

/* Renders the Helm chart as `helm template ledgerquill --namespace payments` does. */

export type Values = { [name: string]: unknown };

/** A rendered Kubernetes object. */
export interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace?: string; labels: Record<string, string> };
  // biome-ignore lint/suspicious/noExplicitAny: of any kind; the compiler checks it against the kind's type.
  spec: any;
}

export const chartFolder = new URL('../../../deploy/helm/ledgerquill/', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, chartFolder), 'utf8');
export const chartFile: { version: string; appVersion: string } = parse(read('Chart.yaml'));
const defaults: Values = parse(read('values.yaml'));
const isValidValues = new Ajv({ strict: false }).compile(JSON.parse(read('values.schema.json')));

/** @throws Error that lists the values that values.schema.json rejects, or the message of the template */
export function renderChart(values: Values = {}): Manifest[] {
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

export function renderNotes(values: Values): string {
  const Release = { Name: 'ledgerquill', Namespace: 'payments' };
  const Chart = { Name: 'ledgerquill', AppVersion: chartFile.appVersion };
  return render(read('templates/NOTES.txt'), { Values: mergeValues(defaults, values), Release, Chart });
}

/** Objects are merged, as Helm does, and everything else is replaced. */
function mergeValues(base: Values, values: Values): Values {
  const isObject = (value: unknown): value is Values =>
    typeof value === 'object' && value !== null && !Array.isArray(value);
  const merged = { ...base };
  for (const [name, value] of Object.entries(values)) {
    const before = merged[name];
    merged[name] = isObject(before) && isObject(value) ? mergeValues(before, value) : value;
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
