import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { noPrices, parseMoney } from '../../src/base/money.ts';
import { createAuditTrail } from '../../src/gateway/audit/audit-trail.ts';
import { runCommand } from '../support/command.ts';
import { fencedBlocks, runBlock, whyNoCurl } from '../support/docs/blocks.ts';
import { tFolder } from '../support/gateway/stores/folder.ts';
import { tPaidCall } from '../support/gateway/telemetry/events.ts';

/* The examples of docs/paid-calls.md, at the prices of its first one. */

const page = readFileSync(new URL('../../docs/paid-calls.md', import.meta.url), 'utf8');
const [start, ...blocks] = fencedBlocks(page);
const env = Object.fromEntries(
  [...(start?.text ?? '').matchAll(/([A-Z_]+)="([^"]+)"/g)].map(([, name = '', value = '']) => [name, value]),
);
const examples = blocks.flatMap((block, index) => {
  const output = blocks[index + 1]?.text ?? '';
  const title = `line ${block.line}, ${block.heading}`;
  return ['sh', 'js'].includes(block.language)
    ? [{ title, block, output, isBill: block.text.startsWith('ledgerquill') }]
    : [];
});

it.skipIf(whyNoCurl).each(examples.filter(({ isBill }) => !isBill))(
  `shows the real output: $title${whyNoCurl}`,
  async ({ block, output }) => {
    expect((await runBlock(block, output, env)).trimEnd()).toBe(output.trimEnd());
  },
);

it.each(examples.filter(({ isBill }) => isBill))('shows the bill of a month: $title', async ({ block, output }) => {
  const dataDir = tFolder();
  vi.useFakeTimers({ toFake: ['Date', 'performance'], now: Date.parse('2026-11-27T12:00:00Z') });
  const trail = createAuditTrail({
    folder: join(dataDir, 'audit'),
    keepDays: 400,
    services: ['bank-data'],
    prices: { ...noPrices, 'bank-data': parseMoney(env.BANK_DATA_PRICE ?? '') },
    redact: (text) => text,
    events: { auditFailed: expect.unreachable, auditRecovered: () => expect.unreachable() },
  });
  const answered = { kind: 'answered', status: 200, fault: null } as const;
  for (const outcome of [answered, answered, { kind: 'failed', reason: 'reset' } as const])
    trail.events.callEnded(tPaidCall({ caller: 'api-key:shop' }), { outcome, isSent: true, durationMs: 1 });
  trail.close();
  vi.useRealTimers();
  const [, ...args] = block.text.trim().split(' ');
  expect(await runCommand(args, { DATA_DIR: dataDir })).toMatchObject({ stdout: output, stderr: '' });
});

it('has four kinds of examples, at prices, for requests that may ask for them', () => {
  expect(env).toEqual({
    ANONYMOUS_SCOPES: expect.any(String),
    BANK_DATA_PRICE: expect.any(String),
    ESSAY_PRICE: expect.any(String),
  });
  expect(new Set(examples.map(({ block }) => block.heading))).toEqual(new Set(['Before', 'An agent', 'After']));
});
