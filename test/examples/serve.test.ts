import { describe, expect, it } from 'vitest';
import { tBrowser, whyNoChromium } from '../browser.ts';
import { tProcess } from '../process.ts';

describe.skipIf(whyNoChromium)(`npm run examples${whyNoChromium}`, () => {
  const visit = tBrowser();

  it('serves both pages and a gateway, and exits with 0 on SIGTERM', async () => {
    const examples = tProcess('npm', ['run', 'examples'], { PORT: '0' });
    await examples.printed(/GraphiQL .*\n/);
    const [, url = ''] = /(http:\S+)\/apollo\.html/.exec(examples.stdout()) ?? [];
    for (const client of ['apollo', 'urql']) {
      const { page } = await visit(url);
      await page.locator(`a[href="/${client}.html"]`).click();
      await page.getByLabel('IBAN', { exact: true }).fill('DE89370400440532013000');
      await page.getByText('Commerzbank').waitFor();
    }
    examples.kill('SIGTERM');
    expect(await examples.ended).toEqual({ code: 0, signal: null });
  });
});
