import { describe, expect, it, vi } from 'vitest';
import { readConfig } from '../../src/config/read-config.ts';
import { RecordedSpan, type RecordSpan } from '../../src/telemetry/traces/recorded-span.ts';
import { createSpanExport } from '../../src/telemetry/traces/span-export.ts';
import { tCollector } from './otlp-collector.ts';

const mostWaiting = 2_048;

describe('the export of spans', () => {
  it('drops spans while 2,048 wait for its thread', async () => {
    const collector = await tCollector();
    const { record, close, reasons } = tSpanExport(collector.url);
    for (let index = 0; index < mostWaiting + 1_000; index += 1) endSpan(record, `span ${index}`);
    await close();
    const kept = Array.from({ length: mostWaiting }, (_, index) => `span ${index}`);
    expect(collector.spans.map((span) => span.name)).toEqual(kept);
    expect(reasons).toEqual([]);
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

  it('reports once that its thread has ended, and goes on without it', async () => {
    const { record, close, reasons } = tSpanExport('http://127.0.0.1', { url: 'not a URL' });
    await vi.waitFor(() => expect(reasons).toHaveLength(1), { timeout: 5_000 });
    for (let index = 0; index < mostWaiting + 1_000; index += 1) endSpan(record, 'lost');
    await close();
    expect(reasons).toEqual(['the thread that exports spans has ended: Error']);
  });
});

function tSpanExport(endpoint: string, changes: { url?: string } = {}) {
  const { traces } = readConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint });
  if (traces === null) throw new Error('Traces are off.');
  const reasons: string[] = [];
  return { ...createSpanExport({ ...traces, ...changes }, (reason) => reasons.push(reason)), reasons };
}

function endSpan(record: RecordSpan, name: string): void {
  RecordedSpan.start(record, null, { name, kind: 'server', attributes: {} }).end();
}
