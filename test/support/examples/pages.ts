import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest';
import { buildPages, servePages } from '../../../examples/web/pages.ts';
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
}

/**
 * Builds the example pages once per test file; call it in `describe`.
 * @returns a function that opens a page in a browser with a new gateway
 */
export function tPages() {
  const visit = tBrowser();
  const outDir = mkdtempSync(join(tmpdir(), 'ledgerquill-pages-'));
  // It builds two pages, which takes as long as a test on a busy machine.
  beforeAll(() => buildPages(outDir), 60_000);
  afterAll(() => rmSync(outDir, { recursive: true, force: true }));

  return async (client: Client, { bankData, essays, env = {}, ...options }: OpenOptions = {}): Promise<Visit> => {
    const gateway = tGateway({
      ...(bankData && { bankDataUrl: bankData.url }),
      ...(essays && { essaysUrl: essays.url }),
      env,
    });
    const pages = await servePages({ outDir, gatewayUrl: await gateway.listen() });
    onTestFinished(() => pages.close());
    return visit(`${pages.url}/${client}.html`, { viewport: desktop, ...options });
  };
}

const statesOfBoth = new Set(['empty', 'list', 'essay']);

/**
 * Checks that the page fits a phone and is accessible, in the light and the dark theme. Saves screenshots to the folder in
 * SCREENSHOTS, if set. Both pages have the same parts and styles, so the second one is checked in three of its states.
 */
export async function expectGoodLayout(page: Page, client: Client, name: string): Promise<void> {
  const picture = async (form: string) => {
    const { SCREENSHOTS } = process.env;
    if (SCREENSHOTS)
      await page.screenshot({ path: join(SCREENSHOTS, `${client}-${name}-${form}.png`), fullPage: true });
  };
  if (client !== 'apollo' && !process.env.SCREENSHOTS && !statesOfBoth.has(name)) return;
  const isAt = (colorScheme: 'light' | 'dark') => page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });

  await isAt('light');
  expect(await findAccessibilityProblems(page)).toEqual([]);
  await picture('desktop-light');
  await isAt('dark');
  // The dark theme changes only colours, which are the same on both pages.
  if (client === 'apollo') expect(await findAccessibilityProblems(page, ['color-contrast'])).toEqual([]);
  await picture('desktop-dark');
  await page.setViewportSize(phone);
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(phone.width);
  await picture('phone-dark');
  await isAt('light');
  await picture('phone-light');
  await page.setViewportSize(desktop);
}
