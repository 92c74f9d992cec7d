import * as z from 'zod';
import { baseUrl, inFiles } from '../../base/variables/parsers.ts';

/** Traces are exported with OTLP over HTTP. */
export type TracesConfig = NonNullable<ReturnType<typeof readTracesConfig>>;

const samplers = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

const ratioError = 'must be a number from 0 to 1, such as 0.01';

/** https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/ */
export const tracesVariables = {
  OTEL_EXPORTER_OTLP_ENDPOINT: baseUrl.optional(),
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

/** Null: no traces are exported. */
export function readTracesConfig(vars: z.infer<z.ZodObject<typeof tracesVariables>>) {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_TRACES_SAMPLER: sampler } = vars;
  if (!endpoint) return null;
  const ratios = { always_on: 1, always_off: 0, traceidratio: vars.OTEL_TRACES_SAMPLER_ARG };
  const root = sampler.replace('parentbased_', '') as keyof typeof ratios;
  return {
    url: `${endpoint}/v1/traces`,
    headers: vars.OTEL_EXPORTER_OTLP_HEADERS ?? {},
    /** `service.name` and other attributes of all spans. */
    resource: { 'service.name': vars.OTEL_SERVICE_NAME, ...vars.OTEL_RESOURCE_ATTRIBUTES } as Record<string, string>,
    /** Share of sampled requests, from 0 to 1. */
    ratio: ratios[root],
    /** Whether the sampled flag of `traceparent` decides for requests that have this header. */
    followsParent: root !== sampler,
  };
}

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
