import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { fencedBlocks } from '../support/docs/fenced-blocks.ts';
import { runBlock } from '../support/docs/run-block.ts';

/* The examples of docs/agents.md. */

const page = readFileSync(new URL('../../docs/agents.md', import.meta.url), 'utf8');
const blocks = fencedBlocks(page);

it('the client by the SDK prints what the page says', async () => {
  const index = blocks.findIndex(({ language }) => language === 'js');
  const [code, printed] = blocks.slice(index);
  if (!code || printed?.language !== 'text') expect.unreachable('a block with the output follows the code');
  expect(await runBlock(code, printed.text)).toBe(printed.text);
});

it('the configurations of editors are JSON, with the path of the gateway', () => {
  const configurations = blocks.filter(({ language }) => language === 'json');
  expect(configurations).toHaveLength(3);
  for (const { text } of configurations) expect(JSON.stringify(JSON.parse(text))).toContain('gateway.example.com/mcp');
});
