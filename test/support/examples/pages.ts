import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { beforeAll, expect, onTestFinished } from 'vitest';
import { buildPages, servePages } from '../../../examples/web/pages.ts';
import { type View, views } from '../../../examples/web/src/state/use-address.ts';
import type { Environment } from '../../../src/base/variables/read-variables.ts';
import { findAccessibilityProblems, tBrowser, type Visit } from '../browser.ts';
import { tGateway } from '../gateway.ts';
import type { Upstream } from '../scripted-upstream.ts';

export const clients = ['apollo', 'urql'] as const;
export type Client = (typeof clients)[number];

const phone = { width: 390, height: 844 };
const desktop = { width: 1280, height: 900 };

interface OpenOptions {
  bankData?: Pick<Upstream, 'url'>;
  essays?: Pick<Upstream, 'url'>;
  /** Of the gateway. */
  env?: Environment;
  expectedMessage?: RegExp;
  hasOwnContext?: boolean;
  /** The first one that is shown. */
  view?: View;
}

/**
 * Builds the example pages unless they were built before; call it in `describe`.
 * @returns a function that opens a page in a browser with a new gateway
 */
export function tPages() {
  const visit = tBrowser();
  let outDir = '';
  beforeAll(async () => {
    outDir = await buildOnce();
  });

  return async (
    client: Client,
    { bankData, essays, env = {}, view = 'one', ...options }: OpenOptions = {},
  ): Promise<Visit> => {
    const gateway = tGateway({
      ...(bankData && { bankDataUrl: bankData.url }),
      ...(essays && { essaysUrl: essays.url }),
      env,
    });
    const pages = await servePages({ outDir, gatewayUrl: await gateway.listen() });
    onTestFinished(() => pages.close());
    return visit(`${pages.url}/${client}.html#${view}`, { viewport: desktop, ...options });
  };
}

/** Goes to a view, as a user does. */
export async function show(page: Page, view: View): Promise<void> {
  const links = page.getByRole('navigation', { name: 'Views' });
  await links.getByRole('link', { name: views[view], exact: true }).click();
}

/** @returns the folder with the pages of these sources, in which later runs find them */
async function buildOnce(): Promise<string> {
  const inputs = ['examples/web', 'package-lock.json', 'schema.client.graphql', 'clients'];
  const hash = createHash('sha256');
  for (const file of inputs.flatMap(listFiles)) hash.update(file).update(readFileSync(join(root, file)));
  const folder = join(root, 'node_modules/.cache/pages', hash.digest('hex').slice(0, 16));
  if (existsSync(folder)) return folder;
  const own = `${folder}-${process.pid}`;
  await buildPages(own);
  // Another worker may have built the same.
  if (existsSync(folder)) rmSync(own, { recursive: true });
  else renameSync(own, folder);
  return folder;
}

/** Without the types that the build generates. */
function listFiles(path: string): string[] {
  if (path.endsWith('/gql')) return [];
  const entries = path.includes('.') ? null : readdirSync(join(root, path)).toSorted();
  return entries?.flatMap((name) => listFiles(`${path}/${name}`)) ?? [path];
}

const root = fileURLToPath(new URL('../../..', import.meta.url));

/**
 * Checks that the page fits a phone and is accessible, in the light and the dark theme. Saves screenshots to the folder in
 * SCREENSHOTS, if set. Both pages have the same parts and styles, so only the first one is checked.
 */
export async function expectGoodLayout(page: Page, client: Client, name: string): Promise<void> {
  const picture = async (form: string) => {
    const { SCREENSHOTS } = process.env;
    if (SCREENSHOTS) await page.screenshot({ path: join(SCREENSHOTS, `${name}-${form}.png`), fullPage: true });
  };
  if (client !== 'apollo') return;
  const isAt = (colorScheme: 'light' | 'dark') => page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });

  await isAt('light');
  expect(await findAccessibilityProblems(page)).toEqual([]);
  await picture('desktop-light');
  await isAt('dark');
  // The dark theme changes only colours.
  expect(await findAccessibilityProblems(page, ['color-contrast'])).toEqual([]);
  await picture('desktop-dark');
  await page.setViewportSize(phone);
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(phone.width);
  await picture('phone-dark');
  await isAt('light');
  await picture('phone-light');
  await page.setViewportSize(desktop);
}

/** Drops a file with these bytes on the page, as from a folder. */
export async function dropFile(page: Page, name: string, content: string | Buffer): Promise<void> {
  const base64 = Buffer.from(content).toString('base64');
  await page.evaluate(
    ([fileName = '', text = '']) => {
      const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File([bytes], fileName));
      const target = document.querySelector('.file-panel');
      for (const type of ['dragover', 'drop']) {
        target?.dispatchEvent(new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true }));
      }
    },
    [name, base64],
  );
}

/** The file that the button saves. */
export async function download(page: Page, button: string): Promise<{ name: string; text: string }> {
  const downloading = page.waitForEvent('download');
  await page.getByRole('button', { name: button }).click();
  const file = await downloading;
  return { name: file.suggestedFilename(), text: await readFile(await file.path(), 'utf8') };
}
