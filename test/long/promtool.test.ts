import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { whyNoPromtool } from '../support/gateway/telemetry/scrape.ts';

it.skipIf(whyNoPromtool).each([
  ['the alerts fire, and clear, at the limits of their expressions', 'alerts.test.yaml'],
  ['the alerts fire in each replayed outage as docs/incidents.md says', 'outages.test.yaml'],
])(`%s${whyNoPromtool}`, (_, file) => {
  const args = ['test', 'rules', file];
  const { status, stdout, stderr } = spawnSync('promtool', args, { cwd: 'deploy/prometheus', encoding: 'utf8' });
  expect({ status, stderr, stdout }).toMatchObject({ status: 0, stdout: expect.stringContaining('SUCCESS') });
});
