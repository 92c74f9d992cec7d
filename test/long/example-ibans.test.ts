import { readFile } from 'node:fs/promises';
import type { Locator, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { calcCheckDigits } from '../../src/iban/mod97.ts';
import { whyNoChromium } from '../support/browser.ts';
import { clients, expectGoodLayout, show, tPages } from '../support/examples/pages.ts';
import { keyOf, sha256 } from '../support/gateway/callers.ts';
import { type Reply, replyClosed, replyHeld, replyJson, tUpstream } from '../support/scripted-upstream.ts';
import { tBankDataService } from '../support/self-hosted.ts';

/* IBANs on the example pages in a browser, with a gateway and scripted upstreams: texts, requests and upstream calls. */

const iban = 'DE89370400440532013000';
const printed = 'DE89 3704 0044 0532 0130 00';

/** German accounts at one bank, all valid. */
const accounts = Array.from({ length: 38 }, (_, index) => {
  const bban = `37040044${String(532_013_000 + index).padStart(10, '0')}`;
  return `DE${calcCheckDigits('DE', bban)}${bban}`;
});
const [failing = ''] = accounts.slice(20);
const forty = [...accounts.slice(0, 37), 'DE89370400440532013001', 'GB29NWBK6016133192681', ...accounts.slice(37)];

const replyValid: Reply = replyJson(200, { valid: true, bank_data: { name: 'Commerzbank', bic: 'COBADEFFXXX' } });

const checks = (operations: readonly string[]) => operations.filter((name) => name.startsWith('CheckIban'));

const list = (page: Page) => page.getByLabel('IBANs, one per line');

async function paste(field: Locator, text: string): Promise<void> {
  const page = field.page();
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(text)})`);
  await field.press('ControlOrMeta+a');
  await field.press('ControlOrMeta+v');
}

describe.skipIf(whyNoChromium)(`the example pages${whyNoChromium}`, () => {
  const open = tPages();

  describe.each(clients)('with %s: the IBAN field', (client) => {
    it('reports that the service is down, and retries by button or when the same IBAN is typed again', async () => {
      const upstream = await tUpstream(replyClosed);
      const { page, operations } = await open(client, { bankData: upstream });
      const field = page.getByLabel('IBAN', { exact: true });
      await field.fill(iban);
      await page.getByText('The bank-data service').waitFor();
      await expectGoodLayout(page, client, 'down');
      upstream.answers(replyValid);
      await page.getByRole('button', { name: 'Try again' }).click();
      await page.getByText('Valid.').waitFor();
      expect(checks(operations)).toHaveLength(2);

      upstream.answers(replyClosed);
      await field.fill(failing);
      await page.getByText('The bank-data service').waitFor();
      upstream.answers(replyValid);
      await field.fill(iban);
      await page.getByText('Valid.').waitFor();
      await field.fill(failing);
      await page.getByText('Valid.').waitFor();
      expect(checks(operations)).toHaveLength(4);
    });
  });

  describe.each(clients)('with %s: a request that is not executed', (client) => {
    it('is explained: too many requests, and a status without a GraphQL response', async () => {
      const env = {
        GATEWAY_API_KEYS: `shop:${sha256(keyOf('shop'))}:bank-data`,
        ANONYMOUS_SCOPES: 'bank-data',
        CALLER_REQUESTS_PER_MINUTE: '2',
      };
      const expectedMessage = /Failed to load resource/;
      const { page } = await open(client, { bankData: await tUpstream(replyValid), env, expectedMessage });
      const field = page.getByLabel('IBAN', { exact: true });
      await field.fill(iban);
      await page.getByText(/This caller has sent its requests of this minute; retry in \d+ s/).waitFor();

      const html = (status: number) => ({ status, contentType: 'text/html', body: '<html></html>' });
      await page.route('**/graphql', (route) => route.fulfill(html(403)));
      await field.fill(failing);
      await page.getByText('The gateway cannot be used: the response has status 403.').waitFor();
      await page.unroute('**/graphql');
      await page.route('**/graphql', (route) => route.fulfill(html(502)));
      await field.fill(forty[5] ?? '');
      await page.getByText('The gateway cannot be reached.').waitFor();
    });
  });

  describe.each(clients)('with %s: the list', (client) => {
    it('checks 40 pasted IBANs with one request, marks failed ones, and retries only those', async () => {
      const held = replyHeld(replyJson(500, {}));
      let isDown = true;
      const upstream = await tUpstream((response, call) => {
        const isFailing = isDown && call.query.get('iban_number') === failing;
        return (isFailing ? held.reply : replyValid)(response, call);
      });
      const { page, operations } = await open(client, { view: 'many', bankData: upstream });
      await paste(list(page), forty.join('\n'));
      await page.getByText('Checking 40 …').waitFor();
      expect(await page.locator('.row.waiting').count()).toBe(40);
      await expectGoodLayout(page, client, 'list-waiting');

      held.release();
      await page.getByText('37 valid, 2 not valid, 1 failed').waitFor();
      const rows = page.locator('.row');
      expect(await rows.nth(0).innerText()).toMatch(/^38\s[\s\S]*not valid\s+Its check digits do not match/);
      expect(await rows.nth(1).innerText()).toMatch(/^39\s[\s\S]*not valid\s+It is too (short|long) for its country/);
      expect(await rows.nth(2).innerText()).toMatch(/^21\s[\s\S]*failed\s+The bank-data service/);
      expect(await rows.nth(3).innerText()).toMatch(/^1\s[\s\S]*valid\s+Commerzbank, BIC COBADEFFXXX$/);
      expect(checks(operations)).toEqual(['CheckIbans']);
      await expectGoodLayout(page, client, 'list');

      const retry = rows.nth(2).getByRole('button');
      await retry.click();
      await page.getByText('37 valid, 2 not valid, 1 failed').waitFor();
      isDown = false;
      await retry.click();
      await page.getByText('38 valid, 2 not valid').waitFor();
      expect(await rows.nth(2).evaluate((row) => row.matches('.valid:focus'))).toBe(true);
      expect(checks(operations)).toEqual(['CheckIbans', 'CheckIban', 'CheckIban']);
      expect(upstream.calls.filter(({ query }) => query.get('iban_number') !== failing)).toHaveLength(37);
    });

    it('sends no request for a list that was checked before', async () => {
      const upstream = await tUpstream(replyValid);
      const { page, operations } = await open(client, { view: 'many', bankData: upstream });
      await paste(list(page), forty.join('\n'));
      await page.getByText('38 valid, 2 not valid').waitFor();
      await paste(list(page), accounts.slice(0, 2).join('; '));
      await page.getByText('2 valid, 0 not valid').waitFor();
      await paste(list(page), forty.join('\n'));
      await page.getByText('38 valid, 2 not valid').waitFor();
      await page.getByRole('button', { name: 'Check all' }).click();
      expect(checks(operations)).toEqual(['CheckIbans', 'CheckIbans']);

      // Apollo Client finds the IBAN of the list; the cache of urql stores each query on its own.
      await show(page, 'one');
      await page.getByLabel('IBAN', { exact: true }).fill(iban);
      await page.getByText('Valid.').waitFor();
      expect(checks(operations).slice(2)).toEqual(client === 'apollo' ? [] : ['CheckIban']);
    });
  });

  describe('with either client', () => {
    const client = 'apollo';

    it('shows country, bank and national check of a valid IBAN', async () => {
      const { page, operations } = await open(client, { bankData: { url: await tBankDataService() } });
      await expectGoodLayout(page, client, 'empty');
      await page.getByLabel('IBAN', { exact: true }).fill(printed);
      await page.getByText('Valid.').waitFor();
      const answer = await page.locator('#iban-answer').innerText();
      expect(answer).toMatch(/Commerzbank[\s\S]*COBADEFFXXX[\s\S]*Germany/);
      expect(await page.getByText('Germany: 22 of 22 characters').isVisible()).toBe(true);
      expect(checks(operations)).toEqual(['CheckIban']);
      await expectGoodLayout(page, client, 'valid');

      await show(page, 'many');
      const heading = page.getByRole('heading', { name: 'Many IBANs' });
      expect(await heading.evaluate((element) => element.matches(':focus'))).toBe(true);
      expect(await page.title()).toMatch(/^Many IBANs/);
      expect(await page.locator('main > section:visible').count()).toBe(1);
      await page.goBack();
      expect(await page.getByLabel('IBAN', { exact: true }).inputValue()).toBe(printed);
    });

    it('asks the gateway about a pasted IBAN with a label', async () => {
      const { page, operations, variables } = await open(client, { bankData: { url: await tBankDataService() } });
      const field = page.getByLabel('IBAN', { exact: true });
      await field.pressSequentially('IBAN DE89 3');
      await page.getByText('Checked as you type').waitFor();
      expect(await field.getAttribute('aria-invalid')).toBe('false');
      expect(checks(operations)).toEqual([]);
      await paste(field, `IBAN: ${printed}`);
      await page.getByRole('list', { name: 'Did you mean' }).getByRole('button', { name: printed }).click();
      await page.getByText('Valid.').waitFor();
      expect(variables.slice(-2)).toEqual([{ iban: `IBAN:${iban}` }, { iban }]);
      await paste(field, `Please pay to ${printed}`);
      await page.getByRole('list', { name: 'Did you mean' }).getByRole('button', { name: printed }).waitFor();
      await paste(field, 'IBAN: DE89 3704 0044 0532 0130 01');
      await page.locator('#iban-answer .invalid').waitFor();
      expect(checks(operations)).toHaveLength(4);
    });

    it.each([
      ['quickly', 120],
      ['so slowly that each character is followed by a pause', 600],
    ])('sends one request for 22 characters typed %s, and none for the same again', async (_, perCharacterMs) => {
      const upstream = await tUpstream(replyValid);
      const { page, operations } = await open(client, { bankData: upstream, hasOwnContext: true });
      await page.clock.install({ time: 0 });
      await page.clock.pauseAt(1_000);
      const field = page.getByLabel('IBAN', { exact: true });
      await field.focus();
      for (const [index, character] of [...iban].entries()) {
        await page.keyboard.press(character);
        await page.clock.runFor(perCharacterMs);
        if (index === 1) await page.getByText('Germany: 2 of 22 characters').waitFor();
        if (index < 21) expect(checks(operations)).toEqual([]);
      }
      // A busy page may begin its pause after the last character only now.
      const isAnswered = async () => {
        await page.clock.runFor(1_000);
        return page.getByText('Valid.').isVisible();
      };
      await expect.poll(isAnswered, { timeout: 100_000 }).toBe(true);
      expect(checks(operations)).toHaveLength(1);
      expect(upstream.calls).toHaveLength(1);

      await field.fill('');
      await field.pressSequentially(printed);
      await page.clock.runFor(1_000);
      await page.getByText('Valid.').waitFor();
      expect(checks(operations)).toHaveLength(1);
    });

    it('explains what is wrong, and accepts a suggestion by keyboard', async () => {
      const { page, operations } = await open(client, { bankData: { url: await tBankDataService() } });
      const field = page.getByLabel('IBAN', { exact: true });
      await field.fill('DE89 3704 0044 0532 0130 01');
      await page.getByText('Its check digits do not match').waitFor();
      expect(await field.getAttribute('aria-invalid')).toBe('true');
      await expectGoodLayout(page, client, 'invalid');
      const suggestions = page.getByRole('list', { name: 'Did you mean' }).getByRole('button');
      expect(await suggestions.allInnerTexts()).toContain(printed);

      const index = (await suggestions.allInnerTexts()).indexOf(printed);
      for (let press = 0; press <= index; press += 1) await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      await page.getByText('Valid.').waitFor();
      expect(await field.inputValue()).toBe(printed);
      expect(await field.evaluate((element) => element.matches(':focus'))).toBe(true);
      expect(checks(operations)).toEqual(['CheckIban', 'CheckIban']);
    });

    it('explains why a text cannot be an IBAN, without a request', async () => {
      const { page, operations } = await open(client);
      await page.getByLabel('IBAN', { exact: true }).fill('DE89 3704');
      await page.keyboard.press('Enter');
      await page.getByText('An IBAN has 2 letters').waitFor();
      expect(checks(operations)).toEqual([]);
    });

    it('says that a country has no IBANs, while its code is typed', async () => {
      const { page, operations } = await open(client);
      const field = page.getByLabel('IBAN', { exact: true });
      await field.pressSequentially('us');
      await page.getByText('No IBANs of the SWIFT registry begin with US (United States)').waitFor();
      expect(await field.getAttribute('aria-invalid')).toBe('true');
      await expectGoodLayout(page, client, 'country-without-ibans');
      await field.fill('XX12');
      await page.getByText('XX is not the code of a country.').waitFor();
      await field.fill('FR12');
      await page.getByText('France: 4 of 27 characters').waitFor();
      expect(await field.getAttribute('aria-invalid')).toBe('false');
      expect(operations.toSorted()).toEqual(['IbanFormats', 'PastOrders']);
    });

    it('shows a valid IBAN of a bank that is not known in another way than one of a known bank', async () => {
      const upstream = await tUpstream(replyJson(200, { valid: true }));
      const { page } = await open(client, { bankData: upstream });
      const field = page.getByLabel('IBAN', { exact: true });
      await field.fill(printed);
      await page.getByText('Valid, but the bank is not known.').waitFor();
      expect(await field.getAttribute('class')).not.toContain('valid');
      await expectGoodLayout(page, client, 'bank-not-known');
      await show(page, 'many');
      await paste(list(page), iban);
      await page.getByText('0 valid, 1 bank not known, 0 not valid').waitFor();
    });

    it('checks the list again after a reload', async () => {
      const upstream = await tUpstream(replyValid);
      const { page, operations } = await open(client, { view: 'many', bankData: upstream });
      const text = [accounts[0], forty[37], 'not an IBAN'].join('\n');
      await paste(list(page), text);
      await page.getByText('1 valid, 2 not valid').waitFor();
      await page.reload();
      await page.getByText('1 valid, 2 not valid').waitFor();
      expect(await list(page).inputValue()).toBe(text);
      expect(checks(operations)).toEqual(['CheckIbans', 'CheckIbans']);
      expect(upstream.calls).toHaveLength(1);

      await list(page).fill('');
      await page.reload();
      await page.getByText('Try an example list').waitFor();
    });

    it('corrects the same wrong IBAN in all rows, undoes it, and marks the results of an earlier text', async () => {
      const { page, operations } = await open(client, { view: 'many', bankData: { url: await tBankDataService() } });
      const wrong = 'DE89370400440532013001';
      const text = [...Array(3).fill(wrong), iban, 'GB29NWBK6016133192681'].join('\n');
      await paste(list(page), text);
      await page.getByText('1 valid, 4 not valid').waitFor();
      await page.locator('.row').nth(1).getByRole('button', { name: printed }).click();
      await page.getByText('It is also in 2 other rows.').waitFor();
      await expectGoodLayout(page, client, 'list-corrected');
      await page.getByRole('button', { name: 'Apply to the 2 others' }).click();
      await page.getByText('4 valid, 1 not valid').waitFor();
      expect(await list(page).inputValue()).toBe(text.replaceAll(wrong, printed));
      await page.getByRole('button', { name: 'Undo' }).click();
      await page.getByText('2 valid, 3 not valid').waitFor();
      await page.getByRole('button', { name: 'Undo' }).click();
      await page.getByText('1 valid, 4 not valid').waitFor();
      expect(await list(page).inputValue()).toBe(text);
      expect(await page.getByRole('button', { name: 'Undo' }).count()).toBe(0);
      expect(checks(operations)).toEqual(['CheckIbans', 'CheckIban']);

      await list(page).press('End');
      await list(page).pressSequentially('9');
      await page.getByText('The list was changed after this check').waitFor();
      await expectGoodLayout(page, client, 'list-stale');
      await page.getByRole('button', { name: 'Check all' }).click();
      await page.getByText('The list was changed after this check').waitFor({ state: 'detached' });
    });

    it('takes the IBANs of a pasted table', async () => {
      const upstream = await tUpstream(replyValid);
      const { page } = await open(client, { view: 'many', bankData: upstream, expectedMessage: /status of 400/ });
      const wrong = 'DE89370400440532013001';
      await paste(list(page), `Name\tIBAN\tAmount\nAnna\t${wrong}\t12\nBob\t${printed}\t3,50\nCy\t\t4\n`);
      await page.getByText('1 valid, 1 not valid').waitFor();
      expect(await list(page).inputValue()).toBe(`${wrong}\n${printed}`);
      await page.getByText('This is the column with IBANs').waitFor();
      expect(upstream.calls).toHaveLength(1);

      await paste(list(page), 'Name\tAmount\nAnna\t12');
      await page.getByText('0 valid, 4 not valid').waitFor();
    });

    it('groups the IBAN while it is typed and changed, and keeps the caret', async () => {
      const { page } = await open(client);
      const field = page.getByLabel('IBAN', { exact: true });
      await field.pressSequentially('de893704004405320130');
      expect(await field.inputValue()).toBe('de89 3704 0044 0532 0130');
      for (let press = 0; press < 5; press += 1) await page.keyboard.press('ArrowLeft');
      await page.keyboard.press('Backspace');
      await page.keyboard.press('Backspace');
      await page.keyboard.type('99');
      expect(await field.inputValue()).toBe('de89 3704 0044 0599 0130');
      expect(await page.evaluate('document.activeElement.selectionStart')).toBe('de89 3704 0044 0599'.length);
    });

    it('filters by the parts of the bar, corrects by suggestions, and exports the shown rows as typed', async () => {
      const { page, operations } = await open(client, { view: 'many', bankData: { url: await tBankDataService() } });
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
      const text = ['de89-3704-0044-0532-0130-01', 'FR84 2004 1010 0505 0001 3M02 607', '=1+1', iban].join('\n');
      await paste(list(page), text);
      await page.getByText('1 valid, 1 suspicious, 2 not valid').waitFor();
      const typed = page.locator('.row > .iban');
      expect(await typed.allInnerTexts()).toEqual([
        ...['de89-3704-0044-0532-0130-01', '=1+1', 'FR84 2004 1010 0505 0001 3M02 607', iban],
      ]);
      await page.getByText('confirm it with the payee').waitFor();

      const bar = page.getByRole('group', { name: 'Show only' });
      await bar.getByRole('button', { name: '2 not valid' }).click();
      expect(await typed.allInnerTexts()).toEqual(['de89-3704-0044-0532-0130-01', '=1+1']);
      await expectGoodLayout(page, client, 'list-filtered');
      const downloading = page.waitForEvent('download');
      await page.getByRole('button', { name: 'CSV', exact: true }).click();
      const download = await downloading;
      expect(download.suggestedFilename()).toBe('ibans.csv');
      const [header, first, second, ...others] = (await readFile(await download.path(), 'utf8')).split('\r\n');
      expect(header).toBe('\uFEFFposition,input,result,problem,suggestions,bank');
      expect(first).toMatch(/^1,de89-3704-0044-0532-0130-01,not valid,Its check digits.*,DE89370400440532013000/);
      expect(second).toMatch(/^3,'=1\+1,not valid/);
      expect(others).toEqual(['']);
      await page.getByRole('button', { name: 'Copy' }).click();
      await page.getByText('2 copied').waitFor();
      const copied = String(await page.evaluate('navigator.clipboard.readText()'));
      expect(copied.split('\n').map((line) => line.split('\t')[0])).toEqual(['position', '1', '3']);

      await page.getByRole('button', { name: printed }).click();
      await page.getByText('2 valid, 1 suspicious, 1 not valid').waitFor();
      expect(await typed.allInnerTexts()).toEqual(['=1+1']);
      await page.getByRole('button', { name: 'Show all' }).click();
      expect(await typed.nth(0).innerText()).toBe(printed);
      expect(await list(page).inputValue()).toBe(text.replace(/^.*/, printed));

      await bar.getByRole('button', { name: '1 not valid' }).click();
      expect(await typed.count()).toBe(1);
      await page.getByRole('button', { name: 'Check all' }).click();
      await page.getByText('All 4').waitFor();
      expect(await typed.count()).toBe(4);
      expect(checks(operations)).toEqual(['CheckIbans', 'CheckIban', 'CheckIbans']);
    });
  });
});
