import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { tFolder } from '../stores/folder.ts';

interface Check {
  id: string;
  status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'SKIPPED' | 'INFO';
}

/** The checks of each scenario that an edition has for servers, by the name of the scenario, by the official conformance suite. */
export async function runConformance(url: string, edition: string) {
  const folder = tFolder();
  const args = ['--import', shim, suite, 'server', '--requirements', edition, '--url', url, '--output-dir', folder];
  // Its exit code says that a scenario has failed, which the caller decides.
  await new Promise<void>((resolve) => execFile(process.execPath, args, { timeout: 200_000 }, () => resolve()));
  const results = readdirSync(folder).map((name) => {
    const scenario = name.replace(/^server-/, '').replace(/-\d{4}-\d{2}-\d{2}T.*$/, '');
    const checks: Check[] = JSON.parse(readFileSync(join(folder, name, 'checks.json'), 'utf8'));
    const idsOf = (...wanted: Check['status'][]) =>
      checks.flatMap(({ id, status }) => (wanted.includes(status) ? [id] : []));
    return [scenario, { passed: idsOf('SUCCESS'), failed: idsOf('FAILURE', 'WARNING') }] as const;
  });
  return new Map(results);
}

const suite = fileURLToPath(
  new URL('../../../../node_modules/@modelcontextprotocol/conformance/dist/index.js', import.meta.url),
);

/** The suite imports `globSync` for another command; Node 20 does not have it. */
const hook = `export async function load(url, context, next) {
  const loaded = await next(url, context);
  if (!url.endsWith('/conformance/dist/index.js')) return loaded;
  return { ...loaded, source: String(loaded.source).replace(/globSync as \\w+,/, '') };
}`;
const shim = asModule(`import { register } from 'node:module'; register(${JSON.stringify(asModule(hook))});`);

function asModule(code: string): string {
  return `data:text/javascript,${encodeURIComponent(code)}`;
}
