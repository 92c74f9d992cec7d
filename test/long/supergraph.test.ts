import { readFileSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createRouter } from '../../examples/supergraph/router.ts';
import { serve } from '../../examples/supergraph/serve.ts';
import { findAccessibilityProblems, tBrowser, whyNoChromium } from '../support/browser.ts';
import { tSupergraph } from '../support/federation/supergraph.ts';
import { tNpmScript, tScript } from '../support/process.ts';

const page = readFileSync(new URL('../../docs/federation.md', import.meta.url), 'utf8');

describe('npm run supergraph', () => {
  it('answers the query of docs/federation.md as documented, and exits with 0 on SIGINT', async () => {
    const [, body = '', answer = ''] = page.match(/-d '(.*payees.*)'\n```\n```json\n(.*)\n```/) ?? [];
    const supergraph = tNpmScript('supergraph', { PORT: '0' });
    const [, url = ''] = await supergraph.printed(/router +(\S+) .*\n[\s\S]*curl .*\n/);
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(url, { method: 'POST', headers, body });
    expect(await response.text()).toBe(answer);
    supergraph.kill('SIGINT');
    expect(await supergraph.ended).toEqual({ code: 0, signal: null });
  });

  it('does not start if Ledgerquill cannot start, and reports why', async () => {
    const supergraph = tScript('examples/supergraph/main.ts', { PORT: '0', ESSAY_API_KEY: 'key-without-url' });
    expect((await supergraph.ended).code).toBe(1);
    expect(supergraph.stderr()).toContain('ESSAY_URL: missing');
    expect(supergraph.stderr()).not.toMatch(/^\s+at /m);
  });
});

describe.skipIf(whyNoChromium)(`the router of the example in a browser${whyNoChromium}`, () => {
  const visit = tBrowser();

  it('shows GraphiQL, which needs no other origin', async () => {
    const { sdl } = await tSupergraph();
    const router = createRouter(sdl);
    const served = await serve(router);
    onTestFinished(async () => {
      await served.close();
      await router.dispose();
    });
    const { page } = await visit(served.url, { viewport: { width: 1280, height: 800 } });
    await page.getByRole('region', { name: 'Operation Editor' }).getByText('Payees').first().waitFor();
    await page.getByRole('button', { name: 'Execute query' }).click();
    await page.getByRole('region', { name: 'Result Window' }).getByText('"Bank 50010517"').waitFor();
    expect(await findAccessibilityProblems(page)).toEqual([]);
  });
});
