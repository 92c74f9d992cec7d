import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { exampleTabs } from '../../src/http/graphiql.ts';
import { tBrowser, whyNoChromium } from '../browser.ts';
import { tGateway } from '../gateway.ts';
import { tBankDataService, tEssayService } from '../self-hosted.ts';

/* GraphiQL as a visitor has it: in a browser, from this gateway alone. That nothing else is asked, tBrowser sees to. */

describe.skipIf(whyNoChromium)(`GraphiQL in a browser${whyNoChromium}`, () => {
  const visit = tBrowser();

  async function open(): Promise<Page> {
    const [bankDataUrl, essaysUrl] = await Promise.all([tBankDataService(), tEssayService()]);
    const gateway = tGateway({ bankDataUrl, essaysUrl });
    const { page } = await visit(`${await gateway.listen()}/graphql`, { viewport: { width: 1400, height: 1000 } });
    await page.getByRole('region', { name: 'Operation Editor' }).getByText('OneIban').waitFor();
    return page;
  }

  it('runs each example tab, and shows its data', async () => {
    const page = await open();
    const names = exampleTabs.map(({ query }) => /(?:query|mutation) (\w+)/.exec(query)?.[1] ?? '');
    expect(names).toHaveLength(3);
    for (const name of names) {
      // By the keyboard: the tabs move while they find their places, and take a click on a moving one for a drag.
      await page.getByRole('tab', { name }).getByRole('button', { name, exact: true }).press('Enter');
      const editor = page.getByRole('region', { name: 'Operation Editor' });
      await editor.getByText(name).first().waitFor();
      const answered = page.waitForResponse((response) => response.request().postDataJSON()?.operationName === name);
      let isAnswered = false;
      answered.then(() => {
        isAnswered = true;
      });
      // GraphiQL shows a tab a moment before it knows its operation, and until then runs none.
      const execute = async () => {
        if (!isAnswered) await page.getByRole('button', { name: 'Execute query' }).click();
        return isAnswered;
      };
      await expect.poll(execute, { interval: 250, timeout: 20_000 }).toBe(true);
      const { data, errors } = await (await answered).json();
      expect(errors).toBeUndefined();
      const [field = ''] = Object.keys(data);
      await page.getByRole('region', { name: 'Result Window' }).getByText(`"${field}"`).first().waitFor();
    }
  });

  it('completes the name of a field by the schema, and explains its type', async () => {
    const page = await open();
    await page.getByRole('region', { name: 'Operation Editor' }).getByText('OneIban').click();
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.type('{ ibanV');
    await page.getByRole('option', { name: /^ibanValidation\b/ }).waitFor();
    await page.getByRole('option', { name: /^ibanValidations\b/ }).waitFor();
    await page.keyboard.press('Escape');

    await page.getByRole('button', { name: 'Show Documentation Explorer' }).click();
    const docs = page.getByRole('region', { name: 'Documentation Explorer' });
    await docs.getByRole('link', { name: 'IbanValidation', exact: true }).click();
    await docs.getByText('What is known about an IBAN.').waitFor();
    await docs.getByText('Whether it is a valid IBAN. Not whether the account exists.').waitFor();
  });
});
