import { spawnSync } from 'node:child_process';
import axe from 'axe-core';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest';

const executable = [
  ...(process.env.CHROMIUM_PATH ? [process.env.CHROMIUM_PATH] : []),
  '/usr/bin/chromium',
  'chromium',
  'chromium-browser',
  'google-chrome',
].find((command) => spawnSync(command, ['--version']).status === 0);

/** For the names of tests that need a browser: why they are skipped, or nothing. */
export const whyNoChromium =
  executable === undefined
    ? ' (SKIPPED: there is no Chromium here; install the package chromium, or name one in CHROMIUM_PATH)'
    : '';

interface VisitOptions extends BrowserContextOptions {
  /** What the browser itself says on the console of a request that is meant to fail. */
  expectedComplaint?: RegExp;
}

export interface Visit {
  page: Page;
  /** The names of the GraphQL operations that were sent, in their order. */
  asked: string[];
  /** What was sent with each. */
  variables: unknown[];
}

/**
 * One headless Chromium for a file, to be called in its `describe`.
 * @returns a function that opens a page in a context of its own. When the test is over, there must have been no error in
 * the page or on its console, and no request to any other origin.
 */
export function tBrowser(): (url: string, options?: VisitOptions) => Promise<Visit> {
  let browser: Browser;
  beforeAll(async () => {
    const isRoot = process.getuid?.() === 0;
    browser = await chromium.launch({ executablePath: whereIs(executable), args: isRoot ? ['--no-sandbox'] : [] });
  });
  afterAll(() => browser?.close());

  return async (url, { expectedComplaint, ...options } = {}) => {
    const context = await browser.newContext({ locale: 'en-GB', ...options });
    // Sooner than the test, so that it is told what was waited for.
    context.setDefaultTimeout(20_000);
    const page = await context.newPage();
    const complaints: string[] = [];
    const asked: string[] = [];
    const variables: unknown[] = [];
    page.on('pageerror', (error) => complaints.push(String(error)));
    page.on('console', (message) => {
      if (message.type() !== 'error' && message.type() !== 'warning') return;
      if (!expectedComplaint?.test(message.text())) complaints.push(message.text());
    });
    page.on('request', (request) => {
      const { origin, protocol, pathname } = new URL(request.url());
      if (protocol.startsWith('http') && origin !== new URL(url).origin) complaints.push(`request to ${origin}`);
      if (pathname !== '/graphql' || request.method() !== 'POST') return;
      const sent = request.postDataJSON();
      asked.push(sent.operationName);
      variables.push(sent.variables);
    });
    onTestFinished(async () => {
      await context.close();
      expect(complaints).toEqual([]);
    });
    await page.goto(url);
    return { page, asked, variables };
  };
}

/** Axe's serious and critical findings about the page as it is now, by all of its rules or by some. */
export async function findBarriers(page: Page, rules?: string[]): Promise<string[]> {
  if (!(await page.evaluate('"axe" in globalThis'))) await page.evaluate(axe.source);
  const findings = await page.evaluate(async (runOnly) => {
    const { violations } = await (globalThis as unknown as { axe: typeof axe }).axe.run({
      resultTypes: ['violations'],
      ...(runOnly && { runOnly }),
    });
    return violations.map(({ id, impact, nodes }) => ({ id, impact, places: nodes.map(({ html }) => html) }));
  }, rules);
  return findings
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, impact, places }) => `${impact} ${id}: ${places.join(' ')}`);
}

/** Chromium is started by its path, not by the name of its command. */
function whereIs(command: string | undefined): string {
  if (command === undefined) throw new Error('there is no Chromium');
  return command.includes('/') ? command : spawnSync('which', [command], { encoding: 'utf8' }).stdout.trim();
}
