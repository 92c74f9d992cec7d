import { type Metric, Registry } from 'prom-client';
import { definitions, type MetricName } from './definitions.ts';
import { createGatewayMetrics, type MetricSources } from './gateway-metrics.ts';
import type { Metrics } from './metrics.ts';
import { createProcessMetrics } from './process-metrics.ts';
import type { Collectors } from './sample.ts';

/** All metrics in the text format of Prometheus. */
export interface Exposition {
  contentType: string;
  scrape(): Promise<string>;
  close(): void;
}

/** The names of labels are checked by a test: `definitions` and the collectors list them. */
export function createExposition({ collectors }: Pick<Metrics, 'collectors'>, sources: MetricSources): Exposition {
  const { collectors: ofProcess, reset, close } = createProcessMetrics();
  const all: Collectors<MetricName> = { ...collectors, ...createGatewayMetrics(sources), ...ofProcess };
  const registry = new Registry();
  for (const name of Object.keys(definitions) as MetricName[]) {
    // The registry calls only `get`. Its own classes would count a second time.
    registry.registerMetric({ name, get: () => read(name) } as unknown as Metric);
  }
  return {
    contentType: registry.contentType,
    async scrape() {
      const text = await registry.metrics();
      reset();
      return text;
    },
    close,
  };

  async function read(name: MetricName): Promise<object> {
    const samples = await all[name]();
    const values = samples.map(({ value, labels = {}, suffix = '' }) => ({ metricName: name + suffix, value, labels }));
    return { ...definitions[name], name, values };
  }
}
