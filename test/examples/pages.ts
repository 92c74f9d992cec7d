import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest';
import { buildPages, servePages } from '../../examples/web/pages.ts';
import { findBarriers, tBrowser, type Visit } from '../browser.ts';
import { tGateway } from '../gateway.ts';
import type { Upstream } from '../upstream.ts';

export const clients = ['apollo', 'urql'] as const;
export type Client = (typeof clients)[number];

export const phone = { width: 360, height: 740 };
export const desktop = { width: 1280, height: 900 };

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
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    expect(await findBarriers(page)).toEqual([]);
    for (const [size, viewport] of Object.entries({ phone, desktop })) {
      await page.setViewportSize(viewport);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(viewport.width);
      await picture(page, `${client}-${name}-${size}-${colorScheme}.png`);
    }
  }
}

async function picture(page: Page, file: string): Promise<void> {
  const { SCREENSHOTS } = process.env;
  if (!SCREENSHOTS) return;
  mkdirSync(SCREENSHOTS, { recursive: true });
  await page.screenshot({ path: join(SCREENSHOTS, file), fullPage: true });
}
