// cspell:ignore deutdeff
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { calcCheckDigits } from '../../src/iban/mod97.ts';
import { whyNoChromium } from '../support/browser.ts';
import { serviceAt, tCheck } from '../support/check/check.ts';
import { rightMessage } from '../support/check/pain-messages.ts';
import { clients, download, dropFile, expectGoodLayout, tPages } from '../support/examples/pages.ts';
import { type Reply, replyHeld, replyJson, tUpstream } from '../support/scripted-upstream.ts';

/* Files on the example pages in a browser, with a gateway and a scripted service: rows, requests, and what is saved, which is what the command writes. */

/** A German account, valid. */
function account(index: number): string {
  const bban = `37040044${String(532_013_000 + index).padStart(10, '0')}`;
  return `DE${calcCheckDigits('DE', bban)}${bban}`;
}

const wrong = 'DE89370400440532013001';
const spanish = 'ES5621000418440200051332';
const replyValid: Reply = replyJson(200, { valid: true, bank_data: { name: 'Commerzbank', bic: 'COBADEFFXXX' } });

const panel = (page: Page) => page.locator('.file-panel');
const rowsOf = (page: Page) => panel(page).locator('.file-row');
const status = (page: Page) => panel(page).getByRole('status');

/** The requests for POST /check, as they are sent. */
function countChecks(page: Page): () => number {
  let checks = 0;
  page.on('request', (request) => {
    checks += Number(request.method() === 'POST' && new URL(request.url()).pathname === '/check');
  });
  return () => checks;
}

async function check(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Check the file' }).click();
}

const message = rightMessage('pain.001.001.09')
  .replace('NL91ABNA0417164300', 'NL91ABNA0417164301')
  .replace('<ChrgBr>SLEV', '<ChrgBr>SHAR');

describe.skipIf(whyNoChromium)(`files on the example pages${whyNoChromium}`, () => {
  const open = tPages();

  describe.each(clients)('with %s', (client) => {
    it('says why a check was not completed, and sends the file again', async () => {
      const upstream = await tUpstream(replyValid);
      const { page } = await open(client, { bankData: upstream, expectedMessage: /net::ERR_FAILED/ });
      await page.route('**/check?*', (route) => route.abort('failed'), { times: 1 });
      await dropFile(page, 'ibans.txt', Array.from({ length: 20 }, (_, index) => account(index)).join('\n'));
      await check(page);
      await panel(page).getByText('The gateway cannot be reached.').waitFor();
      await expectGoodLayout(page, client, 'file-failed');
      await check(page);
      await page.getByRole('button', { name: '20 valid' }).waitFor();
      expect(await panel(page).getByText('cannot be reached').count()).toBe(0);
      expect(upstream.calls).toHaveLength(20);
    });
  });

  describe('with either client', () => {
    const client = 'apollo';

    it('checks a dropped file when asked to, shows findings first, and saves what the command writes', async () => {
      const upstream = await tUpstream((response, call) =>
        (call.query.get('iban_number') === account(7) ? replyJson(200, { valid: true }) : replyValid)(response, call),
      );
      const { page } = await open(client, { bankData: upstream });
      const checks = countChecks(page);
      const rows = Array.from({ length: 25 }, (_, index) => `Payee ${index};${account(index % 20)};COBADEFF;${index}`);
      rows.push(
        `"Müller; \nSöhne";${wrong};;=1+1`,
        `Dolores;${spanish};;-12,50`,
        'Nobel;;;3',
        `Bob;${account(2)};deutdeff 500;1`,
        `Dan;${account(4)};COBADEF;2`,
      );
      const table = ['Name;IBAN;BIC;Amount', ...rows, ''].join('\r\n');
      await dropFile(page, 'payees.csv', table);
      await page.getByText('payees.csv').waitFor();
      await expectGoodLayout(page, client, 'file');
      expect(checks()).toBe(0);

      await check(page);
      await status(page)
        .filter({
          hasText:
            '30 rows: 24 valid, 1 bank not known, 2 with a hint, 1 with an error, 1 not valid, 1 without an IBAN',
        })
        .waitFor({ state: 'attached' });
      expect(checks()).toBe(1);
      await page.getByText('Compared with bank lists that are out of date: ES of 2024-11-11').waitFor();
      const first = await rowsOf(page).nth(0).innerText();
      expect(first).toMatch(/^27\s+Müller[\s\S]*DE89370400440532013001[\s\S]*not valid[\s\S]*check digits/);
      expect(first).toMatch(/Did you mean:\s+DE\d\d /);
      expect(await rowsOf(page).filter({ hasText: 'Dolores' }).innerText()).toContain('with a hint');
      expect(await rowsOf(page).filter({ hasText: 'Bob' }).innerText()).toMatch(/with a hint[\s\S]*BIC/);
      expect(await rowsOf(page).filter({ hasText: 'Nobel' }).innerText()).toContain('without an IBAN');
      expect(await rowsOf(page).filter({ hasText: 'Payee 7' }).innerText()).toContain('bank not known');
      await expectGoodLayout(page, client, 'file-results');
      await page.setViewportSize({ width: 390, height: 844 });
      const clipped = await rowsOf(page)
        .locator('.suggestions')
        .evaluateAll(
          (lists) =>
            lists.filter((list) => {
              const [own, row] = [list, list.parentElement ?? list].map((each) => each.getBoundingClientRect());
              return list.scrollWidth > list.clientWidth || (own?.bottom ?? 0) > (row?.bottom ?? 0);
            }).length,
        );
      expect(clipped).toBe(0);

      const saved = await download(page, 'Download the checked file');
      expect(saved.name).toBe('payees-checked.csv');
      expect(upstream.calls).toHaveLength(21);
      const { run } = tCheck(table, 'payees.csv');
      expect(saved.text).toBe((await run([], serviceAt(upstream.url))).stdout);
    });

    it('shows the findings of a payment message', async () => {
      const { page } = await open(client, { bankData: await tUpstream(replyValid) });
      await dropFile(page, 'pain.xml', message);
      await check(page);
      await rowsOf(page).first().waitFor();
      const { stdout, stderr } = await tCheck(message, 'pain.xml').run(['--format', 'json']);
      const found = stdout
        .trim()
        .split('\n')
        .map((line): { message: string; severity: string } => JSON.parse(line));
      await page.getByText(`${found.length} finding`).first().waitFor();
      // The page and the command say the same, in payments.
      const [, summary = ''] = /pain\.xml: (.*)/.exec(stderr) ?? [];
      expect(summary).toContain('3 payments (1 with an error');
      await page.getByText(summary, { exact: true }).waitFor();
      await panel(page).getByRole('button', { name: 'errors' }).waitFor();
      for (const { message, severity } of found) {
        const row = rowsOf(page).filter({ hasText: message }).first();
        expect(await row.innerText()).toMatch(new RegExp(`with an? ${severity}`));
      }
      const row = await rowsOf(page).filter({ hasText: 'check digits' }).innerText();
      expect(row).toMatch(/Creditor 2 · EUR 100 · INVOICE-2[\s\S]*Did you mean:\s+NL91 ABNA/);
      await expectGoodLayout(page, client, 'file-message');
    });

    it('cancels the request that is on its way, and checks again later', async () => {
      const { reply, release } = replyHeld(replyValid);
      const upstream = await tUpstream(reply);
      const { page } = await open(client, { bankData: upstream });
      await dropFile(page, 'ibans.txt', Array.from({ length: 10 }, (_, index) => account(index)).join('\n'));
      const called = upstream.nextCall();
      await check(page);
      await called;
      await page.getByRole('progressbar', { name: 'Checked rows' }).waitFor();
      await page.getByText('are not paid for again').waitFor();
      await expectGoodLayout(page, client, 'file-running');
      await page.getByRole('button', { name: 'Cancel' }).click();
      await page.getByRole('button', { name: 'Check the file' }).waitFor();
      release();
      await check(page);
      await page.getByRole('button', { name: '10 valid' }).waitFor();
    });

    it('checks 3,000 rows with one request, and has few of them in the document', async () => {
      const upstream = await tUpstream(replyValid);
      const { page } = await open(client, { bankData: upstream });
      const checks = countChecks(page);
      const rows = Array.from({ length: 3_000 }, (_, index) =>
        index % 30 === 29 ? `${account(index).slice(0, -1)}X;x` : `${account(index)};x`,
      );
      await dropFile(page, 'many.csv', rows.join('\n'));
      await check(page);
      await page.getByRole('button', { name: '2,900 valid' }).waitFor();
      await page.getByRole('button', { name: '100 not valid' }).waitFor();
      expect(checks()).toBe(1);
      expect(upstream.calls).toHaveLength(2_900);
      expect(await rowsOf(page).count()).toBeLessThan(30);
      expect(await rowsOf(page).nth(0).getAttribute('aria-setsize')).toBe('3000');

      // By keyboard to the end.
      await page.getByRole('region', { name: 'Rows of the file' }).focus();
      await page.keyboard.press('End');
      await rowsOf(page).getByText('2,999', { exact: true }).waitFor();
      expect(await rowsOf(page).count()).toBeLessThan(30);
    });

    it('checks all columns with IBANs, or the one that is named', async () => {
      const upstream = await tUpstream(replyValid);
      const { page } = await open(client, { bankData: upstream, expectedMessage: /status of 4\d\d/ });
      const table = `Konto;Name (für Bank);Payer\n${account(1)};Jörg;${account(9)}\n${account(2)};Käthe;${wrong}\n`;
      await dropFile(page, 'ansi.csv', Buffer.from(table, 'latin1'));
      await check(page);
      await page.getByRole('button', { name: '1 not valid' }).waitFor();
      expect(await rowsOf(page).nth(0).innerText()).toMatch(/Käthe · Payer: /);

      await page.getByLabel('Column with the IBANs').fill('Konto');
      expect(await rowsOf(page).count()).toBe(0);
      await check(page);
      await page.getByRole('group', { name: 'Show only' }).waitFor();
      expect(await panel(page).getByRole('button', { name: 'not valid' }).count()).toBe(0);
      expect((await download(page, 'Download')).text).toMatch(
        /^\uFEFFKonto;Name \(für Bank\);Payer;status;[\s\S]*Käthe/,
      );

      await page.getByLabel('Column with the IBANs').fill('Account');
      await check(page);
      await panel(page).getByText('"Account"').waitFor();
      const column = page.getByLabel('Column with the IBANs');
      expect(await column.evaluate((element) => element.matches('[aria-invalid=true]:focus'))).toBe(true);
    });

    it.each([
      ['payees.xlsx', Buffer.from('PK\x03\x04'), 'XLSX workbooks are not read here. Save the sheet as CSV'],
      ['names.csv', 'Name\nAnna\n', 'has IBANs in its first rows; name the column in “Column with the IBANs”'],
    ])('refuses %s with the reason of the gateway', async (name, content, reason) => {
      const { page } = await open(client, { expectedMessage: /status of 4\d\d/ });
      await dropFile(page, name, content);
      await check(page);
      await panel(page).getByText(reason).waitFor();
      await expectGoodLayout(page, client, 'file-refused');
    });

    it('reads a chosen file and a pasted table; after a reload, only the table is still there', async () => {
      const { page } = await open(client, { view: 'file' });
      const image = { name: 'scan.png', mimeType: 'image/png', buffer: Buffer.from('\x89PNG') };
      await page.getByLabel('File with IBANs').setInputFiles(image);
      await panel(page).getByText('scan.png has no rows that can be read').waitFor();
      await page.getByLabel('File with IBANs').setInputFiles({
        name: 'chosen.tsv',
        mimeType: 'text/tab-separated-values',
        buffer: Buffer.from(`A\tB\n1\t${wrong}\n`),
      });
      await page.getByText('chosen.tsv').waitFor();
      await page.reload();
      await page.getByLabel('Or paste a table').fill(`Name\tIBAN\nAnna\t${wrong}`);
      await page.getByText('Pasted table').waitFor();
      await page.reload();
      await page.getByText('Pasted table').waitFor();
      await check(page);
      await page.getByRole('button', { name: '1 not valid' }).waitFor();
      await page.getByRole('button', { name: 'Another file' }).click();
      await page.getByLabel('Or paste a table').waitFor();
      await page.reload();
      await page.getByLabel('Or paste a table').waitFor();
    });
  });
});
