import axe from 'axe-core';
import { type Browser, chromium, type Page } from 'playwright-core';
import { beforeAll, expect, onTestFinished } from 'vitest';
import { findProgram, type OnFinished } from './process.ts';

const executable = [process.env.CHROMIUM_PATH ?? '', 'chromium', 'chromium-browser', 'google-chrome']
  .map(findProgram)
  .find((path) => path !== null);

/** Appended to the titles of tests that need a browser. */
export const whyNoChromium =
  executable === undefined ? ' (SKIPPED: no Chromium found; install the package chromium or set CHROMIUM_PATH)' : '';

interface VisitOptions {
  viewport?: Viewport;
  colorScheme?: 'light' | 'dark';
  /** For tests that replace the clock or change the context in another way that does not end with the page. */
  hasOwnContext?: boolean;
  /** Console messages of the browser that the test expects. */
  expectedMessage?: RegExp;
  /** Whether the page may send requests to other origins. */
  isCrossOrigin?: boolean;
  onFinished?: OnFinished;
}

type Viewport = NonNullable<ReturnType<Page['viewportSize']>>;

export interface Visit {
  page: Page;
  /** Names of the sent GraphQL operations, in order. */
  operations: string[];
  /** The variables of each. */
  variables: unknown[];
}

/** Used by all files of the worker, and ended with it. */
let launched: Promise<Browser> | undefined;

/** A page between two tests. A page in a new context would compile its scripts again, which takes five times as much CPU time. */
let idlePage: Page | undefined;

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
 * @returns a function that opens a page. Each test has servers at ports of its own, so no page sees the storage of an earlier one.
 * The test fails if the page throws or logs an error or sends a request to another origin.
 */
export function tBrowser(): (url: string, options?: VisitOptions) => Promise<Visit> {
  let browser: Browser;
  beforeAll(async () => {
    launched ??= launch();
    browser = await launched;
  });

  return async (url, { expectedMessage, ...look } = {}) => {
    const { isCrossOrigin = false, hasOwnContext = false, onFinished = onTestFinished } = look;
    const page = hasOwnContext ? await newPage(browser) : await takePage(browser);
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
    onFinished(async () => {
      if (hasOwnContext) await page.context().close();
      else await putBack(page);
      expect(problems).toEqual([]);
    });
    await page.setViewportSize(look.viewport ?? { width: 1280, height: 720 });
    await page.emulateMedia({ colorScheme: look.colorScheme ?? 'light', reducedMotion: null });
    await page.goto(url);
    return { page, operations, variables };
  };
}

async function newPage(browser: Browser): Promise<Page> {
  const context = await browser.newContext({ locale: 'en-GB' });
  // Shorter than the test's timeout, so that the error shows the awaited element.
  context.setDefaultTimeout(100_000);
  return context.newPage();
}

function takePage(browser: Browser): Promise<Page> | Page {
  const page = idlePage;
  idlePage = undefined;
  return page ?? newPage(browser);
}

async function putBack(page: Page): Promise<void> {
  await page.unrouteAll();
  await page.goto('about:blank');
  await page.context().clearPermissions();
  page.removeAllListeners();
  if (idlePage === undefined) idlePage = page;
  else await page.context().close();
}

/** Axe's serious and critical findings on the current page, by all or the given rules. */
export async function findAccessibilityProblems(page: Page, rules?: string[]): Promise<string[]> {
  if (!(await page.evaluate('"axe" in globalThis'))) {
    await page.evaluate(axe.source);
    // Axe copies the source of each element around them, which is 9 MB in GraphiQL.
    await page.evaluate('for (const script of document.scripts) script.textContent = ""');
  }
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
