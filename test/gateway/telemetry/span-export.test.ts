import { expect, it } from 'vitest';
import { readConfig } from '../../../src/gateway/config/read-config.ts';
import { createSpanExport } from '../../../src/gateway/telemetry/request-trace.ts';
import { tCollector } from '../../support/gateway/telemetry/otlp-collector.ts';

it('drops spans while 2,048 wait for a batch that is being sent', async () => {
  const collector = await tCollector();
  const { traces } = readConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
  if (traces === null) throw new Error('Traces are off.');
  const failures: string[] = [];
  const { tracer, close } = createSpanExport(traces, (reason) => void failures.push(reason));
  for (let index = 0; index < 4_000; index += 1) tracer.startSpan(`span ${index}`).end();
  await close();
  // Batches may arrive in another order.
  const received = collector.spans.map((span) => span.name).toSorted();
  expect(received).toEqual(Array.from({ length: 512 + 2_048 }, (_, index) => `span ${index}`).toSorted());
  expect(failures).toEqual([]);
});
