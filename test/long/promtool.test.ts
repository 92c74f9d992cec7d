import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { whyNoPromtool } from '../support/gateway/telemetry/scrape.ts';

it.skipIf(whyNoPromtool)(`the alerts fire in each replayed outage as docs/incidents.md says${whyNoPromtool}`, () => {
  const args = ['test', 'rules', 'outages.test.yaml'];
  const { status, stdout, stderr } = spawnSync('promtool', args, { cwd: 'deploy/prometheus', encoding: 'utf8' });
  expect({ status, stderr, stdout }).toMatchObject({ status: 0, stdout: expect.stringContaining('SUCCESS') });
});
