import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { calcCheckDigits } from '../../src/iban/mod97.ts';
import { whyNoChromium } from '../support/browser.ts';
import { serviceAt, tCheck } from '../support/check/check.ts';
import { download, dropFile } from '../support/examples/files.ts';
import { clients, expectGoodLayout, tPages } from '../support/examples/pages.ts';
import { type Reply, replyHeld, replyJson, tUpstream } from '../support/scripted-upstream.ts';

/* Files on the example pages in a browser, with a gateway and a scripted service: rows, requests and what is saved. */

/** A German account, valid. */
function account(index: number): string {
  const bban = `37040044${String(532_013_000 + index).padStart(10, '0')}`;
  return `DE${calcCheckDigits('DE', bban)}${bban}`;
}

const wrong = 'DE89370400440532013001';
const french = 'FR8420041010050500013M02607';
const replyValid: Reply = replyJson(200, { valid: true, bank_data: { name: 'Commerzbank', bic: 'COBADEFFXXX' } });

const panel = (page: Page) => page.locator('.file-panel');
const rowsOf = (page: Page) => panel(page).locator('.file-row');
const status = (page: Page) => panel(page).getByRole('status');
const checks = (operations: readonly string[]) => operations.filter((name) => name === 'CheckItems');

/** Status, problems and match of the BIC in each row. */
function bicsOf(csv: string): (string | undefined)[][] {
  const rows = csv.trim().split('\n').slice(1);
  return rows.map((row) => row.split(',')).map((cells) => [cells[4], cells[5], cells[9]]);
}

async function savedBics(page: Page) {
  return bicsOf((await download(page, 'Download the checked file')).text);
}

async function checkAll(page: Page): Promise<void> {
  await page.getByRole('button', { name: /^Check \d.* IBANs?$/ }).click();
}

describe.skipIf(whyNoChromium)(`files on the example pages${whyNoChromium}`, () => {
  const open = tPages();

  describe.each(clients)('with %s', (client) => {
    it('says which requests failed, and sends only their IBANs again', async () => {
      const upstream = await tUpstream(replyValid);
      const { page, operations } = await open(client, {
        bankData: upstream,
        env: { MAX_IBANS_PER_QUERY: '5' },
        expectedMessage: /net::ERR_FAILED/,
      });
      let requests = 0;
      await page.route('**/graphql', (route) => {
        if (route.request().postDataJSON().operationName !== 'CheckItems') return route.fallback();
        requests += 1;
        return requests === 2 ? route.abort('failed') : route.fallback();
      });
      const text = Array.from({ length: 20 }, (_, index) => account(index)).join('\n');
      await dropFile(page, 'ibans.txt', text);
      await checkAll(page);
      await page
        .getByText('1 of 4 requests failed, so 5 IBANs could not be checked. The gateway cannot be reached.')
        .waitFor();
      await page.getByRole('group', { name: 'Show only' }).getByRole('button', { name: '5 failed' }).waitFor();
      await expectGoodLayout(page, client, 'file-failed');
      await page.getByRole('button', { name: 'Check the other 5 IBANs' }).click();
      await page.getByRole('button', { name: '20 valid' }).waitFor();
      expect(await panel(page).getByText('requests failed').count()).toBe(0);
      expect(checks(operations)).toHaveLength(5);
      expect(upstream.calls).toHaveLength(20);
    });
  });

  describe('with either client', () => {
    const client = 'apollo';

    it('checks a dropped file in chunks, shows findings first, corrects one, and saves all rows in their order', async () => {
      const upstream = await tUpstream((response, call) =>
        (call.query.get('iban_number') === account(7) ? replyJson(200, { valid: true }) : replyValid)(response, call),
      );
      const { page, operations, variables } = await open(client, {
        bankData: upstream,
        env: { MAX_IBANS_PER_QUERY: '10' },
      });
      const rows = Array.from({ length: 25 }, (_, index) => `Payee ${index};${account(index % 20)};${index}`);
      rows.push(`"Müller; \nSöhne";${wrong};=1+1`, `Dupont;${french};-12,50`, 'Nobel;;3');
      await dropFile(page, 'payees.csv', ['Name;IBAN;Amount', ...rows].join('\r\n'));
      await page.getByText('28 rows, separated by semicolons, UTF-8').waitFor();
      expect(await page.getByLabel('Column with the IBANs').locator('option:checked').innerText()).toBe('IBAN');
      expect(checks(operations)).toEqual([]);
      await expectGoodLayout(page, client, 'file');

      await checkAll(page);
      await status(page)
        .filter({ hasText: '28 rows: 24 valid, 1 bank not known, 1 suspicious, 1 not valid, 1 without an IBAN' })
        .waitFor({ state: 'attached' });
      expect(checks(operations)).toHaveLength(3);
      const items = variables.flatMap((sent) => (sent as { items?: { reference: string }[] }).items ?? []);
      expect(items).toHaveLength(22);
      expect(items[0]).toEqual({ iban: account(0), reference: '2' });
      const first = await rowsOf(page).nth(0).innerText();
      expect(first).toMatch(/^27\s+DE89370400440532013001[\s\S]*not valid[\s\S]*Müller[\s\S]*check digits/);
      expect(await rowsOf(page).nth(1).innerText()).toMatch(/suspicious[\s\S]*Dupont[\s\S]*confirm it with the payee/);
      expect(await rowsOf(page).nth(2).innerText()).toMatch(/without an IBAN/);
      expect(await rowsOf(page).nth(3).innerText()).toMatch(/bank not known/);
      await expectGoodLayout(page, client, 'file-results');

      await rowsOf(page).nth(0).getByRole('button').first().press('Enter');
      await rowsOf(page).nth(0).getByText('(corrected)').waitFor();
      await rowsOf(page).nth(0).getByText('Commerzbank').waitFor();
      const isFocused = await rowsOf(page)
        .nth(0)
        .evaluate((element) => element.matches(':focus'));
      expect(isFocused).toBe(true);

      const saved = await download(page, 'Download the checked file');
      expect(saved.name).toBe('payees-checked.csv');
      const lines = saved.text.split('\r\n');
      expect(lines[0]).toBe('Name;IBAN;Amount;status;problems;suggestion;bank;bic;bic_match;national_check;iban');
      expect(lines[1]).toBe(`Payee 0;${account(0)};0;VALID;;;Commerzbank;COBADEFFXXX;;NOT_APPLICABLE;${account(0)}`);
      expect(lines[26]).toMatch(/^"Müller; \nSöhne";(DE\d{20});'=1\+1;VALID;;;Commerzbank;COBADEFFXXX;;\w+;\1$/);
      expect(lines[27]).toMatch(/^Dupont;FR84.*;-12,50;VALID;NATIONAL_CHECK_FAILED;;.*;;FAILED;FR84\w+$/);
      expect(lines.slice(28)).toEqual(['Nobel;;3;EMPTY;IBAN_MISSING;;;;;;', '']);
    });

    it('cancels the requests that are on their way, and continues later', async () => {
      const { reply, release } = replyHeld(replyValid);
      const upstream = await tUpstream(reply);
      const { page, operations } = await open(client, { bankData: upstream, env: { MAX_IBANS_PER_QUERY: '2' } });
      await dropFile(page, 'ibans.txt', Array.from({ length: 10 }, (_, index) => account(index)).join('\n'));
      const called = upstream.nextCall();
      await checkAll(page);
      await called;
      await page.getByRole('progressbar', { name: 'Checked IBANs' }).waitFor();
      await expectGoodLayout(page, client, 'file-running');
      await page.getByRole('button', { name: 'Cancel' }).click();
      await page.getByRole('button', { name: 'Check 10 IBANs' }).waitFor();
      const sent = checks(operations).length;
      expect(sent).toBeLessThan(5);
      release();
      await page.getByRole('button', { name: 'Check 10 IBANs' }).click();
      await page.getByRole('button', { name: '10 valid' }).waitFor();
      expect(checks(operations)).toHaveLength(sent + 5);
    });

    it('checks 3,000 rows with three requests, and has few of them in the document', async () => {
      const upstream = await tUpstream(replyValid);
      const { page, operations } = await open(client, { bankData: upstream });
      const rows = Array.from({ length: 3_000 }, (_, index) =>
        index % 30 === 29 ? `${account(index).slice(0, -1)}X;x` : `${account(index)};x`,
      );
      await dropFile(page, 'many.csv', rows.join('\n'));
      await page.getByText('3,000 rows').waitFor();
      await checkAll(page);
      await page.getByRole('button', { name: '2,900 valid' }).waitFor();
      await page.getByRole('button', { name: '100 not valid' }).waitFor();
      expect(checks(operations)).toHaveLength(3);
      expect(upstream.calls).toHaveLength(2_900);
      expect(await rowsOf(page).count()).toBeLessThan(30);
      expect(await rowsOf(page).nth(0).getAttribute('aria-setsize')).toBe('3000');

      // By keyboard to the end.
      await page.getByRole('region', { name: 'Rows of the file' }).focus();
      await page.keyboard.press('End');
      await rowsOf(page).getByText('2,999', { exact: true }).waitFor();
      expect(await rowsOf(page).count()).toBeLessThan(30);
    });

    it('reads encodings, delimiters and columns, of which another can be chosen', async () => {
      const upstream = await tUpstream(replyValid);
      const { page } = await open(client, { bankData: upstream });
      const column = page.getByLabel('Column with the IBANs').locator('option:checked');
      const table = `Konto;Name (für Bank);Payer\n${account(1)};Jörg;${account(9)}\n${account(2)};Käthe;${account(9)}\n`;

      await dropFile(page, 'utf8.csv', `\uFEFF${table}`);
      await page.getByText('2 rows, separated by semicolons, UTF-8').waitFor();
      expect(await column.innerText()).toBe('Konto');
      await page.getByText('Not checked: the IBANs in Payer.').waitFor();
      await checkAll(page);
      await page.getByRole('button', { name: '2 valid' }).waitFor();
      expect((await download(page, 'Download')).text).toMatch(/^\uFEFFKonto;Name \(für Bank\);Payer;status;/);

      await dropFile(page, 'ansi.csv', Buffer.from(table, 'latin1'));
      await page.getByText('Windows-1252').waitFor();
      await page.getByLabel('Column with the IBANs').selectOption('Payer');
      await page.getByRole('button', { name: 'Check 1 IBAN' }).click();
      await page.getByRole('button', { name: '2 valid' }).waitFor();
      expect(await rowsOf(page).nth(0).innerText()).toContain(account(9));
      expect((await download(page, 'Download')).text).toMatch(/^\uFEFFKonto;Name \(für Bank\);[\s\S]*Käthe/);
      expect(upstream.calls).toHaveLength(3);
    });

    it('compares the BICs of a column with the banks of the IBANs, as the command does', async () => {
      const upstream = await tUpstream(replyValid);
      const { page, operations } = await open(client, { bankData: upstream });
      const lines = [
        `Anna,${account(1)},COBADEFF,`,
        `Bob,${account(2)},${'DEUTDEFF 500'.toLowerCase()},`,
        `Cara,${account(3)},,COBADEFF`,
        `Dan,${account(4)},COBADEF,DEUTDEFF`,
        `Eve,${wrong},COBADEFF,`,
        `Finn,${account(1)},COBADEHH,`,
        'Gus,,DEUTDEFF,',
      ];
      const table = `Name,IBAN,BIC,Other\n${lines.join('\n')}\n`;
      await dropFile(page, 'bics.csv', table);
      const bicColumn = page.getByLabel('Column with the BICs');
      await page.getByText('7 rows, separated by commas').waitFor();
      expect(await bicColumn.locator('option:checked').innerText()).toBe('BIC');
      await checkAll(page);
      await page.getByRole('button', { name: '2 suspicious' }).waitFor();
      expect(await rowsOf(page).filter({ hasText: 'Bob' }).innerText()).toContain('Its BIC is of another bank');
      expect(await rowsOf(page).filter({ hasText: 'Dan' }).innerText()).toContain('Its BIC is not well-formed');
      await expectGoodLayout(page, client, 'file-bics');
      expect(await savedBics(page)).toEqual([
        ['VALID', '', 'SAME_BANK'],
        ['VALID', 'BIC_OF_OTHER_BANK', 'OTHER_BANK'],
        ['VALID', '', ''],
        ['VALID', 'BIC_WRONG_LENGTH', 'UNKNOWN'],
        ['INVALID', 'WRONG_CHECK_DIGITS', 'UNKNOWN'],
        ['VALID', '', 'UNKNOWN'],
        ['EMPTY', 'IBAN_MISSING', 'UNKNOWN'],
      ]);
      const { run } = tCheck(table, 'bics.csv');
      expect(bicsOf((await run([], serviceAt(upstream.url))).stdout)).toEqual(await savedBics(page));

      await bicColumn.selectOption('Other');
      await page.getByRole('button', { name: '1 suspicious' }).waitFor();
      expect((await savedBics(page))[2]).toEqual(['VALID', '', 'SAME_BANK']);
      await bicColumn.selectOption('none');
      expect(new Set((await savedBics(page)).map(([, , match]) => match))).toEqual(new Set(['']));
      expect(checks(operations)).toHaveLength(1);
    });

    it.each([
      ['payees.xlsx', Buffer.from('PK\x03\x04'), 'payees.xlsx: A workbook: save it as CSV'],
      ['pain.xml', '<?xml version="1.0"?><Document/>', 'pain.xml: The file is XML'],
      ['open.csv', `"${'x'.repeat(1_000_100)}`, 'open.csv: A quotation mark in the table is opened'],
    ])('refuses %s with a reason', async (name, content, reason) => {
      const { page } = await open(client);
      await dropFile(page, name, content);
      await panel(page).getByText(reason).waitFor();
      await page.getByLabel('CSV or TSV file with IBANs').waitFor();
      await expectGoodLayout(page, client, 'file-refused');
    });

    it('reads a chosen file and a pasted table; after a reload, only the table is still there', async () => {
      const { page } = await open(client);
      await page.getByLabel('CSV or TSV file with IBANs').setInputFiles({
        name: 'chosen.tsv',
        mimeType: 'text/tab-separated-values',
        buffer: Buffer.from(`A\tB\n1\t${wrong}\n`),
      });
      await page.getByText('1 row, separated by tabs').waitFor();
      await page.reload();
      await page.getByLabel('Or paste a table').fill(`Name\tIBAN\nAnna\t${wrong}`);
      await page.getByText('Pasted table').waitFor();
      await page.reload();
      await page.getByText('Pasted table').waitFor();
      await checkAll(page);
      await page.getByRole('button', { name: '1 not valid' }).waitFor();
      await page.getByRole('button', { name: 'Another file' }).click();
      await page.getByLabel('Or paste a table').waitFor();
      await page.reload();
      await page.getByLabel('Or paste a table').waitFor();
    });
  });
});
