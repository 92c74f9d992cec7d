import { expect, it } from 'vitest';
import type { Measurement } from '../support/graphql/limit-attacks.ts';
import { readJsonLines, tScript } from '../support/process.ts';

it.each([{}, { FEDERATION_TRACES: 'on' }])(
  'no single request takes seconds or hundreds of megabytes, with %j',
  async (env) => {
    const child = tScript('test/support/graphql/limit-attacks.ts', {
      NODE_OPTIONS: '--max-old-space-size=512',
      ...env,
    });
    const measurements = await readJsonLines<Measurement>(child);
    expect(measurements).toHaveLength(19);
    // Five times the target of 100 ms and 32 MB: the machine may be loaded, and the code is not compiled yet.
    for (const { name, cpuMs, residentMb, responseMb } of measurements.slice(1)) {
      expect(cpuMs, `${name}: ms`).toBeLessThan(500);
      expect(residentMb, `${name}: MB`).toBeLessThan(160);
      expect(responseMb, `${name}: MB of the response`).toBeLessThan(6);
    }
  },
  60_000,
);
