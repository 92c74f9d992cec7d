import { describe, expect, it, vi } from 'vitest';
import { readConfig } from '../../src/config/read-config.ts';
import { RecordedSpan, type RecordSpan } from '../../src/telemetry/traces/recorded-span.ts';
import { createSpanExport } from '../../src/telemetry/traces/span-export.ts';
import { tCollector } from '../support/telemetry/otlp-collector.ts';

const mostWaiting = 2_048;
/** Its thread cannot start. */
const invalid = { url: 'not a URL' };

describe('the export of spans', () => {
  it('drops spans while 2,048 wait for its thread', async () => {
    const collector = await tCollector();
    const { record, close, failures } = tSpanExport(collector.url);
    for (let index = 0; index < mostWaiting + 1_000; index += 1) endSpan(record, `span ${index}`);
    await close();
    // Batches may arrive in another order.
    const received = collector.spans.map((span) => span.name).toSorted();
    expect(received).toEqual(Array.from({ length: mostWaiting }, (_, index) => `span ${index}`).toSorted());
    expect(failures).toEqual([]);
  });

  it('accepts spans again when its thread has received the others', async () => {
    const collector = await tCollector();
    const { record, close } = tSpanExport(collector.url);
    for (let index = 0; index < mostWaiting; index += 1) endSpan(record, 'first');
    await vi.waitFor(() => expect(collector.spans.length).toBeGreaterThan(0), { timeout: 5_000 });
    endSpan(record, 'second');
    await close();
    expect(collector.spans.filter((span) => span.name === 'second')).toHaveLength(1);
  });

  it('reports that its thread has ended, and drops spans from then on', async () => {
    const { record, isRunning, close, failures } = tSpanExport('http://127.0.0.1', invalid);
    await vi.waitFor(() => expect(isRunning()).toBe(false), { timeout: 5_000 });
    for (let index = 0; index < mostWaiting + 1_000; index += 1) endSpan(record, 'lost');
    await close();
    expect(failures).toEqual(['ended: Error']);
  });

  it('closes although its thread ends meanwhile', async () => {
    const { record, close, failures } = tSpanExport('http://127.0.0.1', invalid);
    endSpan(record, 'lost');
    await close();
    expect(failures).toEqual(['ended: Error']);
  });

  it('gives each span ids of the right length', () => {
    const ids = Array.from({ length: 1_000 }, () => {
      const { data } = RecordedSpan.start(() => {}, null, { name: 'query', kind: 'server', attributes: {} });
      return `${data.traceId} ${data.spanId}`;
    });
    for (const id of ids) expect(id).toMatch(/^[\da-f]{32} [\da-f]{16}$/);
    expect(new Set(ids.map((id) => id.slice(33)))).toHaveProperty('size', ids.length);
  });
});

function tSpanExport(endpoint: string, changes: { url?: string } = {}) {
  const { traces } = readConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint });
  if (traces === null) throw new Error('Traces are off.');
  const failures: string[] = [];
  const events = {
    tracesNotExported: (reason: string) => void failures.push(reason),
    traceExportEnded: (reason: string) => void failures.push(`ended: ${reason}`),
  };
  return { ...createSpanExport({ ...traces, ...changes }, events), failures };
}

function endSpan(record: RecordSpan, name: string): void {
  RecordedSpan.start(record, null, { name, kind: 'server', attributes: {} }).end();
}
