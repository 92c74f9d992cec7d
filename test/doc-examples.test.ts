import { fileURLToPath, pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import { docExamples, runDocExample } from './support/doc-examples.ts';

/* The examples in the docstrings of src. */

const src = fileURLToPath(new URL('../src/', import.meta.url));
const examples = docExamples(src).map((example) => ({ ...example, name: example.file.slice(src.length) }));

it.each(examples)('$name: $code', async (example) => {
  const checks = runDocExample(example, await import(pathToFileURL(example.file).href));
  expect(checks).not.toEqual([]);
  for (const { line, value, stated } of checks) expect(value, line).toEqual(stated);
});

it('there are some', () => {
  expect(examples.length).toBeGreaterThan(10);
});
