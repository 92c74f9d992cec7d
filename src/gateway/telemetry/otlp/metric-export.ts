import { type HrTime, ValueType } from '@opentelemetry/api';
import { timeInputToHrTime } from '@opentelemetry/core';
import { MetricsExporterMetricsHelper, ProtobufMetricsSerializer } from '@opentelemetry/otlp-transformer';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  AggregationTemporality,
  DataPointType,
  type MetricData,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import type { OtlpConfig } from '../../config/otlp-config.ts';
import { definitions, type MetricName } from '../metrics/definitions.ts';
import { createExposition, type MetricSources, type Samples } from '../metrics/exposition.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { Sample } from '../metrics/series.ts';
import { createOtlpExporter, exportTimeoutMillis } from './exporter.ts';

export type MetricExport = ReturnType<typeof createMetricExport>;

interface MetricExportOptions {
  config: OtlpConfig;
  metrics: Metrics;
  sources: MetricSources;
  onFailed: (reason: string) => void;
}

/** Exports all metrics once a minute, with the names, labels and values of `/metrics`: counts since the process has started. */
export function createMetricExport({ config, metrics, sources, onFailed }: MetricExportOptions) {
  // Another one than that of the server: some values are those since the last reading.
  const exposition = createExposition(metrics, sources);
  const [serializer, helper] = [ProtobufMetricsSerializer, MetricsExporterMetricsHelper];
  const exporter = createOtlpExporter({ signal: 'metrics', serializer, helper, config, onFailed });
  const resource = resourceFromAttributes(config.resource);
  const startTime = timeInputToHrTime(new Date(Date.now() - process.uptime() * 1_000));
  const reader = new PeriodicExportingMetricReader({ exporter, exportTimeoutMillis });
  reader.setMetricProducer({
    async collect() {
      const samples = await exposition.collect().catch((error: unknown) => {
        onFailed(String(error));
        return {} satisfies Samples;
      });
      const endTime = timeInputToHrTime(new Date());
      const read = Object.entries(samples) as [MetricName, readonly Sample[]][];
      const data = read.map(([name, values]) => toMetricData(name, values, { startTime, endTime }));
      const scopeMetrics = [{ scope: { name: 'ledgerquill' }, metrics: data }];
      return { resourceMetrics: { resource, scopeMetrics }, errors: [] };
    },
  });
  return {
    /** Exports the last values. */
    async close(): Promise<void> {
      await reader.shutdown();
      exposition.close();
    },
  };
}

interface Times {
  startTime: HrTime;
  endTime: HrTime;
}

function toMetricData(name: MetricName, samples: readonly Sample[], times: Times): MetricData {
  const { help, type } = definitions[name];
  const [, unit = ''] = /_(seconds|bytes)(?:_total)?$/.exec(name) ?? [];
  const descriptor = { name, description: help, unit: units[unit] ?? '', valueType: ValueType.DOUBLE };
  const dataPoints = samples.map(({ value, labels = {} }) => {
    // As text, as at /metrics: `error_type` may be a status or a word.
    const attributes = Object.fromEntries(Object.entries(labels).map(([label, text]) => [label, String(text)]));
    return { ...times, attributes, value };
  });
  const { CUMULATIVE } = AggregationTemporality;
  return { descriptor, aggregationTemporality: CUMULATIVE, ...kinds[type], dataPoints } as MetricData;
}

/** Collectors append units to names for Prometheus, unless the names have them. */
const units: Readonly<Record<string, string>> = { seconds: 's', bytes: 'By' };

const kinds = {
  counter: { dataPointType: DataPointType.SUM, isMonotonic: true },
  gauge: { dataPointType: DataPointType.GAUGE },
  histogram: { dataPointType: DataPointType.HISTOGRAM },
};
