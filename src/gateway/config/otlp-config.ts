import * as z from 'zod';
import { baseUrl, inFiles } from '../../base/variables/parsers.ts';
import { createMissingVariableError } from '../../base/variables/service-config.ts';

/** What is exported with OTLP over HTTP. */
export type OtlpConfig = NonNullable<ReturnType<typeof readOtlpConfig>>;
export type Signal = 'traces' | 'metrics' | 'logs';

const samplers = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

const exporter = z.enum(['otlp', 'none'], 'must be otlp or none');

const ratioError = 'must be a number from 0 to 1, such as 0.01';

/** https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/ */
export const otlpVariables = {
  OTEL_EXPORTER_OTLP_ENDPOINT: baseUrl.optional(),
  OTEL_TRACES_EXPORTER: exporter.default('otlp'),
  OTEL_METRICS_EXPORTER: exporter.default('none'),
  OTEL_LOGS_EXPORTER: exporter.default('none'),
  OTEL_EXPORTER_OTLP_HEADERS: pairList('api-key=secret', /^[\x20-\x7e]*$/)
    .optional()
    .register(inFiles),
  OTEL_SERVICE_NAME: z.string().default('ledgerquill'),
  OTEL_RESOURCE_ATTRIBUTES: pairList('deployment.environment.name=production').optional(),
  OTEL_TRACES_SAMPLER: z.enum(samplers, `must be one of ${samplers.join(', ')}`).default('always_on'),
  OTEL_TRACES_SAMPLER_ARG: z
    .string()
    .regex(/^(0(\.\d+)?|1(\.0+)?)$/, ratioError)
    .transform(Number)
    .default(1),
};

/** Null: nothing is exported. */
export function readOtlpConfig(vars: z.infer<z.ZodObject<typeof otlpVariables>>) {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_TRACES_SAMPLER: sampler } = vars;
  const signals = (['metrics', 'logs', 'traces'] as const).filter((signal) => vars[variableOf(signal)] === 'otlp');
  const [first = 'traces'] = signals;
  if (!endpoint && first !== 'traces')
    throw createMissingVariableError('OTEL_EXPORTER_OTLP_ENDPOINT', variableOf(first));
  if (!endpoint || signals.length === 0) return null;
  const ratios = { always_on: 1, always_off: 0, traceidratio: vars.OTEL_TRACES_SAMPLER_ARG };
  const root = sampler.replace('parentbased_', '') as keyof typeof ratios;
  return {
    endpoint,
    headers: vars.OTEL_EXPORTER_OTLP_HEADERS ?? {},
    /** `service.name` and other attributes of the process. */
    resource: { 'service.name': vars.OTEL_SERVICE_NAME, ...vars.OTEL_RESOURCE_ATTRIBUTES } as Record<string, string>,
    /** What is exported. */
    signals,
    /** Share of sampled requests, from 0 to 1. */
    ratio: ratios[root],
    /** Whether the sampled flag of `traceparent` decides for requests that have this header. */
    followsParent: root !== sampler,
  };
}

const variableOf = (signal: Signal) => `OTEL_${signal.toUpperCase() as Uppercase<Signal>}_EXPORTER` as const;

/** `name=value,name=value` with percent-encoded values, as in W3C Baggage. */
function pairList(example: string, values = /^/) {
  return z.string().transform((text, context): Record<string, string> => {
    const pairs = text.split(',').map(readPair);
    if (pairs.every((pair) => pair !== null && values.test(pair[1])))
      return Object.fromEntries(pairs as [string, string][]);
    context.addIssue(`must be name=value pairs separated by commas, with percent-encoded values, such as ${example}`);
    return z.NEVER;
  });
}

function readPair(text: string): [string, string] | null {
  const [, name, value] = /^\s*([\w.!#$%&'*+^`|~-]+)\s*=\s*([\x21-\x7e]*)\s*$/.exec(text) ?? [];
  if (name === undefined || value === undefined) return null;
  try {
    return [name, decodeURIComponent(value)];
  } catch {
    return null;
  }
}
