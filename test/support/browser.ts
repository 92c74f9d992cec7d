import axe from 'axe-core';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { beforeAll, expect, onTestFinished } from 'vitest';
import { findProgram } from './installed.ts';

const executable = [process.env.CHROMIUM_PATH ?? '', 'chromium', 'chromium-browser', 'google-chrome']
  .map(findProgram)
  .find((path) => path !== null);

/** Appended to the titles of tests that need a browser. */
export const whyNoChromium =
  executable === undefined ? ' (SKIPPED: no Chromium found; install the package chromium or set CHROMIUM_PATH)' : '';

interface VisitOptions extends BrowserContextOptions {
  /** Console messages of the browser that the test expects. */
  expectedMessage?: RegExp;
  /** Whether the page may send requests to other origins. */
  isCrossOrigin?: boolean;
}

export interface Visit {
  page: Page;
  /** Names of the sent GraphQL operations, in order. */
  operations: string[];
  /** The variables of each. */
  variables: unknown[];
}

/** Used by all files of the worker, and ended with it. */
let launched: Promise<Browser> | undefined;

/** With few threads and processes, which use a tenth less CPU time. */
const args = [
  '--host-resolver-rules=MAP *.example 127.0.0.1',
  '--js-flags=--single-threaded',
  '--num-raster-threads=1',
  '--renderer-process-limit=1',
];

function launch(): Promise<Browser> {
  const isRoot = process.getuid?.() === 0;
  if (executable === undefined) throw new Error('no Chromium found');
  return chromium.launch({ executablePath: executable, args: isRoot ? [...args, '--no-sandbox'] : args });
}

/**
 * Starts a headless Chromium, for which names in `.example` are names of this machine; call it in `describe`.
 * @returns a function that opens a page in a new context. The test fails if the page throws or logs an error or sends a
 * request to another origin.
 */
export function tBrowser(): (url: string, options?: VisitOptions) => Promise<Visit> {
  let browser: Browser;
  beforeAll(async () => {
    launched ??= launch();
    browser = await launched;
  });

  return async (url, { expectedMessage, isCrossOrigin = false, ...options } = {}) => {
    const context = await browser.newContext({ locale: 'en-GB', ...options });
    // Shorter than the test's timeout, so that the error shows the awaited element.
    context.setDefaultTimeout(100_000);
    const page = await context.newPage();
    const problems: string[] = [];
    const operations: string[] = [];
    const variables: unknown[] = [];
    page.on('pageerror', (error) => problems.push(String(error)));
    page.on('console', (message) => {
      if (message.type() !== 'error' && message.type() !== 'warning') return;
      if (!expectedMessage?.test(message.text())) problems.push(message.text());
    });
    page.on('request', (request) => {
      const { origin, protocol, pathname } = new URL(request.url());
      if (!isCrossOrigin && protocol.startsWith('http') && origin !== new URL(url).origin)
        problems.push(`request to ${origin}`);
      if (pathname !== '/graphql' || request.method() !== 'POST') return;
      const sent = request.postDataJSON();
      operations.push(sent.operationName);
      variables.push(sent.variables);
    });
    onTestFinished(async () => {
      await context.close();
      expect(problems).toEqual([]);
    });
    await page.goto(url);
    return { page, operations, variables };
  };
}

/** Axe's serious and critical findings on the current page, by all or the given rules. */
export async function findAccessibilityProblems(page: Page, rules?: string[]): Promise<string[]> {
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
