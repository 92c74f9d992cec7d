import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { readConfig } from '../../src/gateway/config/read-config.ts';
import { knownVariables } from '../../src/gateway/config/variables.ts';
import { whyMissing } from '../support/process.ts';

/* deploy/ledgerquill.service */

const file = new URL('../../deploy/ledgerquill.service', import.meta.url).pathname;
const unit = readFileSync(file, 'utf8');
const readSetting = (name: string) => new RegExp(`^${name}=(.+)$`, 'm').exec(unit)?.[1] ?? '';

it('waits for active requests and essays, by the default times', () => {
  const { shutdownDelayMs, shutdownTimeoutMs } = readConfig({}, { isTerminal: false });
  expect(Number(readSetting('TimeoutStopSec')) * 1_000).toBe(shutdownDelayMs + shutdownTimeoutMs + 5_000);
});

it('sets only variables that exist, a data folder that it creates, and a heap below its memory', () => {
  const names = readSetting('Environment')
    .split(' ')
    .map((text) => text.split('=')[0] ?? '');
  expect(names.filter((name) => ![...knownVariables, 'NODE_ENV', 'NODE_OPTIONS'].includes(name))).toEqual([]);
  expect(readSetting('Environment')).toContain(`DATA_DIR=/var/lib/${readSetting('StateDirectory')}`);
  const heap = Number(/max-old-space-size=(\d+)/.exec(unit)?.[1]);
  expect(heap).toBeLessThanOrEqual(0.75 * Number.parseInt(readSetting('MemoryMax'), 10));
});

it('starts while an upstream or Redis is down, which its check only reports', () => {
  expect(readSetting('ExecStartPre')).toMatch(/^-.* check-config$/);
});

const whyNoSystemd = whyMissing('systemd-analyze', 'systemd');

it.skipIf(whyNoSystemd)(`has only settings that systemd knows${whyNoSystemd}`, () => {
  const { stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', file], { encoding: 'utf8' });
  expect(stderr).not.toMatch(/Unknown|Invalid|Failed to parse/);
});
