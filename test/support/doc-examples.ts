import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** One `@example` of a docstring. */
interface DocExample {
  file: string;
  /** Its lines, without the asterisks. */
  code: string;
}

/**
 * All `@example` blocks in the docstrings of a folder of `src`. A line `expression // => value` is checked; lines before it
 * prepare it. Examples use the exports of their file, and are JavaScript.
 */
export function docExamples(folder: string): DocExample[] {
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
 * @returns for each checked line: its text, its value, and the value that the docstring states
 */
export function runDocExample(
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
  const docstrings = [...source.matchAll(/\/\*\*(.*?)\*\//gs)].map(([, text = '']) => text);
  return docstrings.flatMap((text) =>
    [...text.replace(/^ *\* ?/gm, '').matchAll(/^@example\n(.*?)(?=^@|\s*$(?![\s\S]))/gms)].map(([, code = '']) =>
      code.trimEnd(),
    ),
  );
}
