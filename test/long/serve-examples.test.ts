import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { tBrowser, whyNoChromium } from '../support/browser.ts';
import { dropFile, show } from '../support/examples/pages.ts';
import { tNpmScript } from '../support/process.ts';

const payees = `Name;IBAN;BIC;Amount
Anna Schmidt;DE89370400440532013000;COBADEFFXXX;120.00
Peter Wolf;DE89370400440532013001;COBADEFF;75.50
Claire Petit;FR8420041010050500013M02607;;18.20
Sam Hill;GB29NWBK60161331926819;NWBKGB2L;300.00
Kim Larsen;;DABADKKK;44.00
Lena Bauer;DE75512108001245126199;DEUTDEFF;61.90
Urs Keller;NL91ABNA0417164300;ABNANL2A;99.00
Ida Wolf;DE02120300000000202051;BYLADEM1001;12.50
`;

const desktop = { width: 1280, height: 900 };
const phone = { width: 390, height: 844 };

/** The pictures in docs are renewed by `SCREENSHOTS=docs LONG_TESTS=1 npx vitest run serve-examples`. */
async function picture(page: Page, name: string, colorScheme: 'light' | 'dark' = 'light'): Promise<void> {
  const { SCREENSHOTS } = process.env;
  if (!SCREENSHOTS) return;
  await page.emulateMedia({ colorScheme });
  await page.screenshot({ path: join(SCREENSHOTS, `example-${name}.png`), fullPage: true });
  await page.emulateMedia({ colorScheme: 'light' });
}

describe.skipIf(whyNoChromium)(`npm run examples${whyNoChromium}`, () => {
  const visit = tBrowser();

  // It builds the pages first.
  it('serves both pages and a gateway, and exits with 0 on SIGTERM', async () => {
    const examples = tNpmScript('examples', { PORT: '0' });
    await examples.printed(/GraphiQL .*\n/);
    const [, url = ''] = /(http:\S+)\/apollo\.html/.exec(examples.stdout()) ?? [];
    for (const client of ['urql', 'apollo']) {
      const { page } = await visit(url, { viewport: desktop });
      await page.locator(`a[href="/${client}.html"]`).click();
      await page.getByRole('navigation').getByRole('link', { name: 'GraphiQL' }).waitFor();
      await page.getByLabel('IBAN', { exact: true }).fill('DE89370400440532013001');
      await page.locator('#iban-answer').getByText('Did you mean').waitFor();

      await show(page, 'many');
      await page.getByRole('button', { name: 'Try an example list' }).click();
      await page.getByText('Commerzbank, BIC COBADEFFXXX').waitFor();
      await page.getByText('3 valid, 1 suspicious, 2 not valid').waitFor();
      await page.locator('.row').first().getByRole('button').first().click();
      await page.getByRole('button', { name: 'Undo' }).waitFor();
      await picture(page, 'many');

      await dropFile(page, 'payees.csv', payees);
      await page.getByRole('button', { name: 'Check the file' }).click();
      await page.getByRole('button', { name: '2 with a hint' }).waitFor();
      await page.getByRole('button', { name: '4 valid' }).waitFor();
      await picture(page, 'file', 'dark');

      await show(page, 'essays');
      await page.getByText('offline drafter, which is not a language model').waitFor();
      await page.getByLabel('Topic').fill('Fountain pens: the reservoir, the feed, why people still write with one');
      await page.getByLabel('Maximum words').fill('120');
      await page.getByRole('button', { name: 'Order essay' }).click();
      await page.getByText('arranged by the offline drafter').waitFor();
      await page.setViewportSize(phone);
      await picture(page, 'essays');
      await show(page, 'many');
      await picture(page, 'phone', 'dark');
      // Otherwise the page could ask for its orders once more when the gateway has ended.
      await page.goto('about:blank');
    }
    examples.kill('SIGTERM');
    expect(await examples.ended).toEqual({ code: 0, signal: null });
  });
});
