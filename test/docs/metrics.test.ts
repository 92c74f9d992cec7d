import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { definitions } from '../../src/telemetry/metrics/definitions.ts';

it('docs/metrics.md lists every metric with its type, labels and meaning', () => {
  const page = readFileSync(new URL('../../docs/metrics.md', import.meta.url), 'utf8');
  const [, section = ''] = page.split('## All metrics\n\n');
  const [, , ...rows] = section.slice(0, section.indexOf('\n\n')).split('\n');
  const expected = Object.entries(definitions).map(([name, { type, labels, help }]) => {
    const names = Object.keys(labels)
      .map((label) => `\`${label}\``)
      .join(', ');
    return `| \`${name}\` | ${type} | ${names} | ${help} |`;
  });
  expect(rows).toEqual(expected);
});
