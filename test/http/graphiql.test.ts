import type { GraphQLObjectType } from 'graphql';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { exampleTabs } from '../../scripts/graphiql-tabs.ts';
import { schema } from '../../src/graphql/schema/schema.ts';
import { tBrowser, whyNoChromium } from '../browser.ts';
import { tGateway } from '../gateway.ts';
import { tBankDataService, tEssayService } from '../self-hosted.ts';

/* GraphiQL in a browser. tBrowser fails the test if the page calls any other server. */

describe.skipIf(whyNoChromium)(`GraphiQL in a browser${whyNoChromium}`, () => {
  const visit = tBrowser();

  async function open(): Promise<Page> {
    const [bankDataUrl, essaysUrl] = await Promise.all([tBankDataService(), tEssayService()]);
    const gateway = tGateway({ bankDataUrl, essaysUrl });
    const { page } = await visit(`${await gateway.listen()}/graphql`, { viewport: { width: 1400, height: 1000 } });
    await page.getByRole('region', { name: 'Operation Editor' }).getByText('OneIban').waitFor();
    return page;
  }

  it('runs the example of each tab and shows its data', async () => {
    const page = await open();
    const names = exampleTabs.map(({ query }) => /(?:query|mutation) (\w+)/.exec(query)?.[1] ?? '');
    expect(names).toHaveLength(3);
    for (const name of names) {
      // By keyboard: the tabs move while they are laid out, and a click on a moving tab is taken for a drag.
      await page.getByRole('tab', { name }).getByRole('button', { name, exact: true }).press('Enter');
      const editor = page.getByRole('region', { name: 'Operation Editor' });
      await editor.getByText(name).first().waitFor();
      const response = page.waitForResponse((candidate) => candidate.request().postDataJSON()?.operationName === name);
      let isAnswered = false;
      response.then(() => {
        isAnswered = true;
      });
      // GraphiQL shows a tab before it has parsed its operation, and ignores clicks until then.
      const execute = async () => {
        if (!isAnswered) await page.getByRole('button', { name: 'Execute query' }).click();
        return isAnswered;
      };
      await expect.poll(execute, { interval: 250, timeout: 20_000 }).toBe(true);
      const { data, errors } = await (await response).json();
      expect(errors).toBeUndefined();
      const [field = ''] = Object.keys(data);
      await page.getByRole('region', { name: 'Result Window' }).getByText(`"${field}"`).first().waitFor();
    }
  });

  it('completes field names and shows the documentation of types', async () => {
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
    await docs.getByText(descriptionOf('IbanValidation')).waitFor();
    await docs.getByText(descriptionOf('IbanValidation', 'valid')).waitFor();
  });
});

function descriptionOf(type: string, field?: string): string {
  const definition = schema.getType(type) as GraphQLObjectType;
  return (field === undefined ? definition : definition.getFields()[field])?.description ?? '';
}
