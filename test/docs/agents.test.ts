import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { fencedBlocks } from '../support/docs/blocks.ts';

/* The examples of docs/agents.md. */

const page = readFileSync(new URL('../../docs/agents.md', import.meta.url), 'utf8');
const blocks = fencedBlocks(page);

it('the configurations of editors are JSON, with the path of the gateway', () => {
  const configurations = blocks.filter(({ language }) => language === 'json');
  expect(configurations).toHaveLength(3);
  for (const { text } of configurations) expect(JSON.stringify(JSON.parse(text))).toContain('gateway.example.com/mcp');
});
