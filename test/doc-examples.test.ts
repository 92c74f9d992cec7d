import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';

/** One `@example` of a doc comment. */
interface DocExample {
  file: string;
  /** Its lines, without the asterisks. */
  code: string;
}

/**
 * All `@example` blocks in the doc comments of a folder of `src`. A line `expression // => value` is checked; lines before it
 * prepare it. Examples use the exports of their file, and are JavaScript.
 */
function docExamples(folder: string): DocExample[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .flatMap((name) => {
      const file = join(folder, name);
      return readExamples(readFileSync(file, 'utf8')).map((code) => ({ file, code }));
    })
    .toSorted((one, other) => one.file.localeCompare(other.file));
}

/**
 * Runs an example with the exports of its file.
 * @returns for each checked line: its text, its value, and the value that the comment states
 */
function runDocExample(
  { code }: DocExample,
  exports: Record<string, unknown>,
): { line: string; value: unknown; stated: unknown }[] {
  const body = code.split('\n').map((line) => {
    const [, expression, stated] = /^(.*) \/\/ => (.*)$/.exec(line) ?? [];
    if (expression === undefined) return line;
    return `checks.push({ line: ${JSON.stringify(line)}, value: ${expression}, stated: ${stated} });`;
  });
  const run = new Function(...Object.keys(exports), `const checks = [];\n${body.join('\n')}\nreturn checks;`);
  return run(...Object.values(exports));
}

function readExamples(source: string): string[] {
  const comments = [...source.matchAll(/\/\*\*(.*?)\*\//gs)].map(([, text = '']) => text);
  return comments.flatMap((text) =>
    [...text.replace(/^ *\* ?/gm, '').matchAll(/^@example\n(.*?)(?=^@|\s*$(?![\s\S]))/gms)].map(([, code = '']) =>
      code.trimEnd(),
    ),
  );
}

/* The examples in the comments of src. */

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
