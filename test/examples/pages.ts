import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest';
import { buildPages, servePages } from '../../examples/web/pages.ts';
import { findBarriers, tBrowser, type Visit } from '../browser.ts';
import { tGateway } from '../gateway.ts';
import type { Upstream } from '../scripted-upstream.ts';

export const clients = ['apollo', 'urql'] as const;
export type Client = (typeof clients)[number];

const phone = { width: 360, height: 740 };
const desktop = { width: 1280, height: 900 };

interface OpenOptions {
  bankData?: Pick<Upstream, 'url'>;
  essays?: Pick<Upstream, 'url'>;
  expectedComplaint?: RegExp;
}

/**
 * The example pages, built once for a file, to be called in its `describe`.
 * @returns a function that opens one of them in a browser, before a gateway of its own
 */
export function tPages() {
  const visit = tBrowser();
  const outDir = mkdtempSync(join(tmpdir(), 'ledgerquill-pages-'));
  beforeAll(() => buildPages(outDir));
  afterAll(() => rmSync(outDir, { recursive: true, force: true }));

  return async (client: Client, { bankData, essays, ...options }: OpenOptions = {}): Promise<Visit> => {
    const gateway = tGateway({
      ...(bankData && { bankDataUrl: bankData.url }),
      ...(essays && { essaysUrl: essays.url }),
    });
    const pages = await servePages({ outDir, gatewayUrl: await gateway.listen() });
    onTestFinished(() => pages.close());
    return visit(`${pages.url}/${client}.html`, { viewport: desktop, ...options });
  };
}

/**
 * What anybody sees at once: nothing wider than a phone, and no barrier for those who see or point otherwise, in light
 * and in dark. Where SCREENSHOTS names a folder, it is pictured there.
 */
export async function expectGoodLooks(page: Page, client: Client, name: string): Promise<void> {
  const picture = async (form: string) => {
    const { SCREENSHOTS } = process.env;
    if (SCREENSHOTS)
      await page.screenshot({ path: join(SCREENSHOTS, `${client}-${name}-${form}.png`), fullPage: true });
  };
  const isAt = (colorScheme: 'light' | 'dark') => page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });

  await isAt('light');
  expect(await findBarriers(page)).toEqual([]);
  await picture('desktop-light');
  await isAt('dark');
  // Colours are all that is different in the dark, and both pages have the same.
  if (client === 'apollo') expect(await findBarriers(page, ['color-contrast'])).toEqual([]);
  await picture('desktop-dark');
  await page.setViewportSize(phone);
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(phone.width);
  await picture('phone-dark');
  await isAt('light');
  await picture('phone-light');
  await page.setViewportSize(desktop);
}
