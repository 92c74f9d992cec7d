// cspell:ignore describedby
import { readFile } from 'node:fs/promises';
import { inflateRawSync } from 'node:zlib';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { whyNoChromium } from '../support/browser.ts';
import { type Client, clients, expectGoodLayout, tPages } from '../support/examples/pages.ts';
import { tRedis, whyNoRedis } from '../support/redis.ts';
import { type Reply, replyHeld, replyJson, replyText, tUpstream } from '../support/scripted-upstream.ts';
import { tGate } from '../support/turns.ts';

/* Essays on the example pages in a browser, with a gateway and a scripted service that answers on command. */

const replyEssay: Reply = replyJson(200, { essay: 'On Pens\n\nThey last.\n\nThey leak.' });

async function order(page: Page, { topic = 'Fountain pens', words = 120 } = {}): Promise<void> {
  await page.getByLabel('Topic').fill(topic);
  await page.getByLabel('Mode').selectOption('Academic');
  await page.getByLabel('Purpose').selectOption('Explain');
  await page.getByLabel('Maximum words').fill(String(words));
  await page.getByRole('button', { name: 'Order essay' }).click();
}

const past = (page: Page) => page.getByRole('navigation', { name: 'Your essays' });
const isFocused = (element: Element) => element.matches(':focus');

/** The pages, which begin with the essays. */
function tEssayPages() {
  const open = tPages();
  return (client: Client, options: Parameters<typeof open>[1] = {}) => open(client, { view: 'essays', ...options });
}

describe.skipIf(whyNoChromium)(`essays on the example pages${whyNoChromium}`, () => {
  const open = tEssayPages();

  describe.each(clients)('with %s', (client) => {
    it('watches an order to its end, also after a reload, and orders a second essay only on purpose', async () => {
      const { reply, release } = replyHeld(replyEssay);
      const upstream = await tUpstream(reply);
      const { page, operations, variables } = await open(client, { essays: upstream, hasOwnContext: true });
      await page.getByRole('button', { name: 'Order essay' }).waitFor();
      const before = Date.now();
      await page.clock.setFixedTime(before);
      await order(page);
      await page.getByText('Writing the essay.').waitFor();
      // The order has started between the two times.
      const after = Date.now();
      expect(await page.getByRole('heading', { name: 'Fountain pens' }).evaluate(isFocused)).toBe(true);
      expect(await page.getByLabel('Topic').count()).toBe(0);
      await past(page).getByText('Being written').waitFor();
      await expectGoodLayout(page, client, 'essay-writing');

      const started = operations.length;
      await page.clock.setFixedTime(after + 65_000);
      await page.reload();
      await page.getByText('Writing the essay.').waitFor();
      const [minutes = 0, seconds = 0] = (await page.getByRole('timer').innerText()).split(':').map(Number);
      expect(60 * minutes + seconds).toBeGreaterThanOrEqual(65);
      expect(60 * minutes + seconds).toBeLessThanOrEqual(66 + (after - before) / 1_000);
      expect(operations.slice(started)).toEqual(expect.arrayContaining(['WatchOrder', 'PastOrders']));
      expect(operations.filter((name) => name === 'StartEssay')).toHaveLength(1);
      release();
      await page.getByRole('heading', { name: 'On Pens' }).waitFor();
      await page.getByText('They leak.').waitFor();
      await past(page).getByText('6 words').waitFor();
      await expectGoodLayout(page, client, 'essay-finished');
      expect(upstream.calls).toHaveLength(1);
      expect(JSON.parse(upstream.calls[0]?.body ?? '')).toMatchObject({ mode: 'Academic', word_count: 120 });

      const tab = await page.context().newPage();
      await tab.goto(page.url().replace(/#.*/, '#essays'));
      await past(tab).getByRole('link', { name: 'On Pens' }).click();
      await tab.getByText('They leak.').waitFor();
      await tab.close();

      await page.getByRole('button', { name: 'Order another essay' }).click();
      expect(await page.getByLabel('Topic').inputValue()).toBe('Fountain pens');
      expect(await page.getByLabel('Mode').inputValue()).toBe('ACADEMIC');
      expect(await page.getByLabel('Topic').evaluate(isFocused)).toBe(true);
      expect(upstream.calls).toHaveLength(1);
      await page.getByRole('button', { name: 'Order essay' }).click();
      await page.getByText('They leak.').waitFor();
      expect(upstream.calls).toHaveLength(2);
      await past(page).getByRole('link').nth(1).waitFor();
      const keys = operations.flatMap((name, index) => (name === 'StartEssay' ? [keyOf(variables[index])] : []));
      expect(new Set(keys).size).toBe(2);
    });

    it('cancels an order that waits, for which nothing is paid, but not one that was sent', async () => {
      const gates = { Pens: tGate(), Paper: tGate() };
      const upstream = await tUpstream(async (response, call) => {
        const topic = JSON.parse(call.body).description.split('\n')[0] as keyof typeof gates;
        await gates[topic].opened;
        await replyEssay(response, call);
      });
      const { page } = await open(client, { essays: upstream, env: { ESSAY_ORDERS_RUNNING: '1' } });
      await order(page, { topic: 'Pens' });
      await page.getByText('Writing the essay.').waitFor();
      expect(await page.getByRole('button', { name: 'Cancel the order' }).count()).toBe(0);
      await page.goto(page.url().replace(/#.*/, '#new-order'));
      await order(page, { topic: 'Ink' });
      await page.getByText('Next to be sent.').waitFor();
      await expectGoodLayout(page, client, 'essay-waiting');
      await page.getByRole('button', { name: 'Cancel the order' }).click();
      await page.getByText('so nothing was paid for').waitFor();
      await past(page).getByText('Cancelled').waitFor();
      await expectGoodLayout(page, client, 'essay-cancelled');

      await page.getByRole('button', { name: 'Order another essay' }).click();
      await order(page, { topic: 'Paper' });
      await page.getByText('Next to be sent.').waitFor();
      await page.route('**/graphql', async (route) => {
        if (route.request().postDataJSON().operationName !== 'CancelOrder') return route.fallback();
        const sent = upstream.nextCall();
        gates.Pens.open();
        await sent;
        await route.fallback();
      });
      await page.getByRole('button', { name: 'Cancel the order' }).click();
      await page.getByText('so it is completed and kept').waitFor();
      expect(await page.getByRole('button', { name: 'Cancel the order' }).count()).toBe(0);
      gates.Paper.open();
      await page.getByText('They last.').waitFor();
      const topics = upstream.calls.map(({ body }) => JSON.parse(body).description);
      expect(topics).toEqual([expect.stringMatching('Pens'), expect.stringMatching('Paper')]);
    });

    it('cancels an order that was sent if the operator allows it', async () => {
      const { reply } = replyHeld(replyEssay);
      const upstream = await tUpstream(reply);
      const { page } = await open(client, { essays: upstream, env: { ESSAY_CANCEL_SENT: 'on' } });
      await order(page);
      await page.getByText('Writing the essay.').waitFor();
      await page.getByText('it may be paid for all the same').waitFor();
      await page.getByRole('button', { name: 'Cancel the order' }).click();
      await page.getByText('so it may have been paid for').waitFor();
    });

    it('sends an order again after a lost connection, with the same key', async () => {
      const upstream = await tUpstream(replyEssay);
      const expectedMessage = /^Failed to load resource: net::ERR_INTERNET_DISCONNECTED$/;
      const { page, operations, variables } = await open(client, {
        essays: upstream,
        expectedMessage,
        hasOwnContext: true,
      });
      await page.context().setOffline(true);
      await order(page);
      await page.locator('#essay-answer').getByText('The gateway cannot be reached.').waitFor();
      await page.context().setOffline(false);
      await page.locator('#essay-answer').getByRole('button', { name: 'Try again' }).click();
      await page.getByText('They last.').waitFor();
      const starts = operations.flatMap((name, index) => (name === 'StartEssay' ? [keyOf(variables[index])] : []));
      expect(starts).toHaveLength(2);
      expect(new Set(starts).size).toBe(1);
      expect(upstream.calls).toHaveLength(1);
    });

    it('shows the text so far, keeps it when the connection is lost, and watches again', async () => {
      const { reply, release } = replyHeld(replyEssay);
      const upstream = await tUpstream(reply);
      const { page } = await open(client, { essays: upstream });
      const reconnecting = tGate();
      await page.route('**/graphql', async (route) => {
        const { operationName, variables } = route.request().postDataJSON();
        if (operationName !== 'WatchOrder') return route.fallback();
        // React's strict mode watches twice.
        const isFirst = (await page.getByText('Pens outlast').count()) === 0;
        if (isFirst) return route.fulfill(cutStreams[client](eventOf(variables.id)));
        await reconnecting.opened;
        return route.fallback();
      });
      await order(page);
      await page.getByText('Pens outlast').waitFor();
      await page.getByText('The connection was lost.').waitFor();
      expect(await page.getByText('Writing the essay: 107 words.').isVisible()).toBe(true);
      expect(await page.locator('[role=status]').allInnerTexts()).toContain('100 words are written.');
      expect(await page.locator('article').getAttribute('aria-busy')).toBe('true');
      expect(await page.getByRole('progressbar').getAttribute('value')).toBe('107');
      await expectGoodLayout(page, client, 'essay-arriving');
      reconnecting.open();
      await page.getByText('The connection was lost.').waitFor({ state: 'detached' });
      release();
      await page.getByText('They last.').waitFor();
    });
  });

  describe('with either client', () => {
    const client = 'apollo';

    it('cancels an order that was sent where the operator allows it, and says that it may have been paid for', async () => {
      const { reply } = replyHeld(replyEssay);
      const upstream = await tUpstream(reply);
      const { page } = await open(client, { essays: upstream, env: { ESSAY_CANCEL_SENT: 'on' } });
      const called = upstream.nextCall();
      await order(page);
      const { aborted } = await called;
      await page.getByText('Writing the essay.').waitFor();
      expect(await page.getByRole('button', { name: 'Cancel the order' }).count()).toBe(1);
      const id = decodeURIComponent(page.url().replace(/.*#order=/, ''));
      await send(page, 'mutation ($id: ID!) { cancelEssayOrder(id: $id) { __typename } }', { id });
      await page.getByText('so it may have been paid for').waitFor();
      await aborted;
      await page.getByRole('button', { name: 'Order another essay' }).waitFor();
    });

    it('finds an order after its answer was lost and the page was reloaded', async () => {
      const { reply, release } = replyHeld(replyEssay);
      const upstream = await tUpstream(reply);
      const { page, operations } = await open(client, { essays: upstream, expectedMessage: /net::ERR_FAILED/ });
      await page.route('**/graphql', async (route) => {
        if (route.request().postDataJSON().operationName !== 'StartEssay') return route.fallback();
        await route.fetch();
        await route.abort();
      });
      await order(page);
      await page.getByText('The gateway cannot be reached.').waitFor();
      expect(await page.getByLabel('Topic').isDisabled()).toBe(true);
      await page.reload();
      await page.getByText('Writing the essay.').waitFor();
      release();
      await page.getByText('They last.').waitFor();
      expect(operations.filter((name) => name === 'StartEssay')).toHaveLength(1);
      expect(operations).toContain('FindOrder');
      expect(upstream.calls).toHaveLength(1);
    });

    it('shows the text while it arrives, also after a reload', async () => {
      const [second, last] = [tGate(), tGate()];
      const line = (fields: object) => `${JSON.stringify(fields)}\n`;
      const upstream = await tUpstream(async (response) => {
        response.writeHead(200, { 'content-type': 'application/x-ndjson' }).write(line({ text: 'On Pens\n\nThey' }));
        await second.opened;
        response.write(line({ text: ' outlast' }));
        await last.opened;
        response.end(line({ essay: 'On Pens\n\nThey outlast us.', word_count: 5 }));
      });
      const { page } = await open(client, { essays: upstream });
      await order(page);
      const article = page.locator('article');
      const untilShown = (text: string) => article.getByText(text, { exact: true }).waitFor();
      await untilShown('They');
      expect(await article.getByRole('heading').innerText()).toBe('On Pens');
      second.open();
      await untilShown('They outlast');
      await page.reload();
      await untilShown('They outlast');
      last.open();
      await untilShown('They outlast us.');
      expect(await article.getAttribute('aria-busy')).toBe('false');
      expect(upstream.calls).toHaveLength(1);
    });

    it('marks the invalid field of an order, which is not started', async () => {
      const upstream = await tUpstream(replyEssay);
      const { page } = await open(client, { essays: upstream });
      await order(page, { topic: ' ' });
      await page.getByText('describe the topic and the points to cover.').waitFor();
      expect(await page.getByLabel('Topic').getAttribute('aria-invalid')).toBe('true');
      expect(await page.getByLabel('Topic').evaluate(isFocused)).toBe(true);
      await expectGoodLayout(page, client, 'essay-invalid');
      await order(page, { words: 5000 });
      await page.getByText('The number of words is 5000; it must be from 1 to 2000.').waitFor();
      expect(await page.getByLabel('Maximum words').getAttribute('aria-invalid')).toBe('true');
      await order(page);
      await page.getByText('They last.').waitFor();
      expect(upstream.calls).toHaveLength(1);
    });

    it('shows why an order has failed, with the received text, and does not order again by itself', async () => {
      const upstream = await tUpstream(replyText(200, '<p>On pens, half'));
      const { page } = await open(client, { essays: upstream });
      await order(page);
      await page.getByText('No essay was received.').waitFor();
      await page.getByText('Received text').click();
      expect(await page.locator('pre').innerText()).toBe('<p>On pens, half');
      await expectGoodLayout(page, client, 'essay-failed');
      await page.reload();
      await page.getByText('No essay was received.').waitFor();
      expect(upstream.calls).toHaveLength(1);
      upstream.answers(replyEssay);
      await page.getByRole('button', { name: 'Order another essay' }).click();
      await page.getByRole('button', { name: 'Order essay' }).click();
      await page.getByText('They last.').waitFor();
      expect(upstream.calls).toHaveLength(2);
    });

    it('copies an essay, and saves it as Markdown and as a document', async () => {
      const { page } = await open('apollo', { essays: await tUpstream(replyEssay) });
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
      await order(page);
      await page.getByRole('button', { name: 'Copy' }).click();
      await page.getByText('Copied').waitFor();
      expect(await page.evaluate('navigator.clipboard.readText()')).toBe('On Pens\n\nThey last.\n\nThey leak.');

      const markdown = await save(page, 'Markdown');
      expect(markdown.name).toBe('on-pens.md');
      expect(markdown.content.toString()).toBe('# On Pens\n\nThey last.\n\nThey leak.\n');

      const document = await save(page, 'Word (DOCX)');
      expect(document.name).toBe('on-pens.docx');
      const xml = readZipEntry(document.content, 'word/document.xml');
      expect(xml).toMatch(/<w:pStyle w:val="Title"\/>.*On Pens.*They last\..*They leak\./s);
    });

    it('shows the order whose id is in the URL, or that there is none', async () => {
      const { page } = await open('urql');
      await page.goto(page.url().replace(/#.*/, '#order=unknown'));
      await page.getByRole('heading', { name: 'No such order' }).waitFor();
      await page.getByRole('button', { name: 'Order another essay' }).click();
      await page.getByLabel('Topic').waitFor();
    });

    it('lists ten orders at a time with their time, and deletes one', async () => {
      const upstream = await tUpstream(replyEssay);
      const { page } = await open('apollo', { essays: upstream });
      const start = 'mutation ($input: StartEssayInput!) { startEssay(input: $input) { __typename } }';
      for (let index = 1; index <= 12; index += 1) {
        const input = { description: 'Pens', wordCount: 100, idempotencyKey: `Pen ${index}` };
        await send(page, start, { input });
      }
      await page.reload();
      await past(page).getByRole('link').nth(9).waitFor();
      expect(await past(page).getByRole('link').count()).toBe(10);
      await page.getByRole('button', { name: 'Show more' }).click();
      await past(page).getByRole('link').nth(11).waitFor();
      expect(await page.getByRole('button', { name: 'Show more' }).count()).toBe(0);

      // All have the same title.
      const time = past(page).locator('time');
      for (const text of await time.allInnerTexts()) expect(text).toMatch(/\d\d:\d\d:\d\d/);
      const id = await past(page).getByRole('link').first().getAttribute('aria-describedby');
      expect(await page.locator(`[id="${id}"]`).innerText()).toContain(await time.first().innerText());

      await past(page).getByRole('link').first().click();
      await page.getByText('They last.').waitFor();
      const answers = ['dismiss', 'accept'] as const;
      for (const answer of answers) {
        page.once('dialog', (dialog) => void dialog[answer]());
        await page.getByRole('button', { name: 'Delete' }).click();
      }
      await page.getByRole('button', { name: 'Order essay' }).waitFor();
      await page.getByRole('button', { name: 'Show more' }).click();
      await past(page).getByRole('link').nth(10).waitFor();
      expect(await past(page).getByRole('link').count()).toBe(11);
    });
  });
});

describe.skipIf(whyNoChromium || whyNoRedis)(
  `essays on pages of two gateways that share a Redis${whyNoChromium || whyNoRedis}`,
  () => {
    const open = tEssayPages();

    it('show the same states, and cancel for each other', async () => {
      const redis = await tRedis();
      const gates = { Ink: tGate(), Pens: tGate(), Paper: tGate(), Chalk: tGate() };
      const upstream = await tUpstream(async (response, call) => {
        const topic = JSON.parse(call.body).description.split('\n')[0] as keyof typeof gates;
        await gates[topic].opened;
        await replyJson(200, { essay: `On ${topic}\n\nThey last.` })(response, call);
      });
      const env = { REDIS_URL: redis.url, STORE_SECRET: 'a-secret-that-both-share', ESSAY_ORDERS_RUNNING: '1' };
      const { page: one } = await open('apollo', { essays: upstream, env });
      const { page: other } = await open('urql', { essays: upstream, env });
      const both = (text: string) => Promise.all([one, other].map((page) => page.getByText(text).first().waitFor()));
      const orderNext = async (topic: string) => {
        await one.goto(one.url().replace(/#.*/, '#new-order'));
        await order(one, { topic });
        await one.getByRole('heading', { name: topic }).waitFor();
        await other.goto(other.url().replace(/#.*/, new URL(one.url()).hash));
      };

      // Each gateway sends one at a time, also what the other one has queued.
      for (const topic of ['Ink', 'Paper']) {
        await orderNext(topic);
        await both('Writing the essay.');
      }
      await orderNext('Pens');
      await both('Next to be sent.');
      gates.Ink.open();
      await both('Writing the essay.');
      gates.Pens.open();
      await both('They last.');

      await orderNext('Chalk');
      await both('Writing the essay.');
      await orderNext('Ink');
      await both('Next to be sent.');
      await other.getByRole('button', { name: 'Cancel the order' }).click();
      await both('so nothing was paid for');
      gates.Paper.open();
      gates.Chalk.open();
      for (const page of [one, other]) {
        await page.reload();
        for (const title of ['On Paper', 'On Chalk']) await past(page).getByText(title).waitFor();
        const listed = await past(page).getByRole('link').allInnerTexts();
        expect(listed).toEqual(['Ink', 'On Chalk', 'On Pens', 'On Paper', 'On Ink']);
      }
      expect(upstream.calls).toHaveLength(4);
    });
  },
);

async function send(page: Page, query: string, variables: object): Promise<void> {
  const { data } = await page.evaluate(
    (body) =>
      fetch('/graphql', { method: 'POST', headers: { 'content-type': 'application/json' }, body }).then((response) =>
        response.json(),
      ),
    JSON.stringify({ query, variables }),
  );
  expect(data).toBeTruthy();
}

function keyOf(variables: unknown): string {
  return (variables as { input: { idempotencyKey: string } }).input.idempotencyKey;
}

/** An event of an order whose service shows its text while it writes. */
function eventOf(id: string): string {
  const textSoFar = `On Pens\n\n${'Pens outlast their owners. '.repeat(26)}They`;
  const state = { __typename: 'EssayWriting', textSoFar, wordCount: 107 };
  const input = { __typename: 'EssayInput', description: 'Pens', mode: 'ACADEMIC', purpose: null, wordCount: 120 };
  const essayOrder = {
    __typename: 'EssayOrder',
    id,
    createdAt: new Date().toISOString(),
    isCancellable: false,
    input,
    state,
  };
  return JSON.stringify({ data: { essayOrder } });
}

/** Responses with one event, in the format that the client asks for, whose connection then ends. */
const cutStreams = {
  apollo: (event: string) => ({
    contentType: 'multipart/mixed;boundary="graphql";subscriptionSpec=1.0',
    body: `--graphql\r\ncontent-type: application/json\r\n\r\n{"payload":${event}}\r\n--graphql`,
  }),
  urql: (event: string) => ({ contentType: 'text/event-stream', body: `event: next\ndata: ${event}\n\n` }),
};

async function save(page: Page, button: string): Promise<{ name: string; content: Buffer }> {
  const downloading = page.waitForEvent('download');
  await page.getByRole('button', { name: button }).click();
  const download = await downloading;
  return { name: download.suggestedFilename(), content: await readFile(await download.path()) };
}

/** The text of a file in a ZIP archive, found by its entry in the central directory. */
function readZipEntry(archive: Buffer, name: string): string {
  for (let at = archive.indexOf('PK\u0001\u0002'); at >= 0; at = archive.indexOf('PK\u0001\u0002', at + 4)) {
    const entryName = archive.toString('utf8', at + 46, at + 46 + archive.readUInt16LE(at + 28));
    if (entryName !== name) continue;
    const local = archive.readUInt32LE(at + 42);
    const start = local + 30 + archive.readUInt16LE(local + 26) + archive.readUInt16LE(local + 28);
    return inflateRawSync(archive.subarray(start, start + archive.readUInt32LE(at + 20))).toString();
  }
  throw new Error(`The archive has no ${name}.`);
}
