import { readFileSync } from 'node:fs';
import { runInNewContext } from 'node:vm';
import { type GraphQLObjectType, Kind, parse, validate } from 'graphql';
import type { Locator, Page, Request } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { adaptGraphiql } from '../../../scripts/adapt-graphiql.ts';
import { schema } from '../../../src/gateway/graphql/schema/schema.ts';
import { findAccessibilityProblems, tBrowser, whyNoChromium } from '../../support/browser.ts';
import { tGateway } from '../../support/gateway.ts';
import { tShared } from '../../support/process.ts';
import { tBankDataService, tEssayService } from '../../support/self-hosted.ts';

/* GraphiQL in a browser. tBrowser fails the test if the page calls any other server. */

const example = readFileSync(new URL('../../../scripts/graphiql-example.graphql', import.meta.url), 'utf8');
const operations = parse(example).definitions.map((definition) => {
  if (definition.kind !== Kind.OPERATION_DEFINITION) throw new Error(`unexpected ${definition.kind}`);
  return definition.name?.value ?? '';
});

describe('the operations that GraphiQL shows', () => {
  it('are valid, and teach every query, mutation and subscription', () => {
    expect(validate(schema, parse(example))).toEqual([]);
    const fields = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()].flatMap((type) =>
      Object.keys(type?.getFields() ?? {}),
    );
    // `bicValidation` includes what `bank` returns; the others are for routers.
    const taught = fields.filter((name) => name !== 'bank' && !name.startsWith('_'));
    for (const name of [...taught, 'suggestions', 'nationalCheck', 'idempotencyKey']) {
      expect(example).toMatch(new RegExp(`\\b${name}\\b`));
    }
  });
});

it('is not built if its markup is not the expected one', () => {
  expect(() => adaptGraphiql('<style></style>')).toThrow('GraphiQL has changed: ');
});

it('replaces the examples of another version in the history, and keeps the favorites of the user', () => {
  const script = readFileSync(new URL('../../../scripts/add-examples.js', import.meta.url), 'utf8');
  const stored = new Map([['graphiql:favorites', '{"favorites":[{"query":"old","isExample":true},{"query":"own"}]}']]);
  const localStorage = {
    getItem: (key: string) => stored.get(key),
    setItem: (key: string, text: string) => stored.set(key, text),
  };
  runInNewContext(script, { localStorage, examples: [{ query: 'first' }, { query: 'second' }] });
  const { favorites } = JSON.parse(stored.get('graphiql:favorites') ?? '');
  expect(favorites).toEqual([{ query: 'second' }, { query: 'first' }, { query: 'own' }]);
});

describe.skipIf(whyNoChromium)(`GraphiQL in a browser${whyNoChromium}`, () => {
  const visit = tBrowser();

  /** A page takes 8 s of CPU time to load, so each test continues with that of the one before in its theme. */
  const tPage = (colorScheme: 'light' | 'dark') =>
    tShared(async (onFinished) => {
      const [bankDataUrl, essaysUrl] = await Promise.all([
        tBankDataService({ onFinished }),
        tEssayService({ onFinished }),
      ]);
      const gateway = tGateway({ bankDataUrl, essaysUrl, onFinished });
      const { page } = await visit(`${await gateway.listen()}/graphql`, { viewport: desktop, colorScheme, onFinished });
      await editorOf(page).getByText('OneIban').waitFor();
      return page;
    });
  const light = tPage('light');
  const dark = tPage('dark');

  it('has six tabs, shows their lines in full, runs each at the first click, and the other examples of the history', async () => {
    const page = light();
    const longestLine = Math.max(...example.split('\n').map((line) => line.length));
    expect(await countColumns(page)).toBeGreaterThanOrEqual(longestLine);
    expect(await tabsOf(page).allInnerTexts()).toEqual(operations.slice(0, 6));
    await showHistory(page);
    expect(await historyOf(page).getByRole('listitem').allInnerTexts()).toEqual(operations.slice(6));

    const requested = operations.filter((name) => name !== 'WatchOrder');
    const sent: string[] = [];
    const countRequest = (request: Request) => {
      const name = request.postDataJSON()?.operationName;
      if (operations.includes(name)) sent.push(name);
    };
    page.on('request', countRequest);
    for (const name of requested) {
      const { data, errors } = await execute(page, name);
      expect(errors).toBeUndefined();
      const [field = ''] = Object.keys(data);
      await resultOf(page).getByText(`"${field}"`).first().waitFor();
      expect(data[field]).not.toBeNull();
    }
    page.off('request', countRequest);
    expect(sent).toEqual(requested);
    // GraphiQL lists an operation twice if its tab changes while it runs.
    const listed = new Set(await historyOf(page).getByRole('listitem').allInnerTexts());
    expect([...listed].toSorted()).toEqual(operations.toSorted());
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Hide History' }).click();
  });

  it('starts, watches, finds and deletes an essay without an id that the user types', async () => {
    const page = light();
    const orderId = (await execute(page, 'StartEssay')).data.startEssay?.id;
    const [watched] = await Promise.all([requestOf(page, 'WatchOrder'), choose(page, 'WatchOrder')]);
    expect(watched.postDataJSON().variables).toMatchObject({ orderId });
    await resultOf(page).getByText('"EssayFinished"').waitFor();
    await executeButton(page).waitFor();
    const { data, variables } = await execute(page, 'StoredEssay');
    expect(variables).toMatchObject({ essayId: expect.any(String) });
    expect(data.essay).toMatchObject({ text: expect.stringMatching(/pencil/i) });
    expect(data.node).toMatchObject({ __typename: 'Essay', title: expect.any(String) });
    expect((await execute(page, 'EndEssay')).data.deleteEssayOrder).toEqual({ deletedId: orderId });
  });

  it('restores an operation and its variables from the history, which has no headers', async () => {
    const page = light();
    const write = async (text: string) => {
      await page.keyboard.press('ControlOrMeta+a');
      await page.keyboard.insertText(text);
    };
    await openTab(page, 'ManyIbans');
    await page.getByRole('button', { name: 'Headers', exact: true }).click();
    await page.getByRole('region', { name: 'Headers' }).locator('.view-lines').last().click();
    await write('{ "x-key": "seeded-key" }');
    await Promise.all([requestOf(page, 'ManyIbans'), executeButton(page).click()]);
    await editorOf(page).getByText('ManyIbans').click();
    await write('{ __typename }');
    await showHistory(page);
    await historyOf(page).getByRole('button', { name: 'ManyIbans' }).first().click();
    await editorOf(page).getByText('ManyIbans').waitFor();
    await page.getByText('"seeded-key"').waitFor();
    expect(await page.evaluate("localStorage.getItem('graphiql:queries')")).toMatch(
      /^(?!.*seeded-key).*ManyIbans.*GB29NWBK/,
    );
  });

  it('opens its panes at their top, without cut text and without the fields for routers', async () => {
    const page = dark();
    const docs = page.getByRole('region', { name: 'Documentation Explorer' });
    const explorer = page.locator('.graphiql-plugin');
    for (const size of [phone, desktop]) {
      await page.setViewportSize(size);
      await expect.poll(() => countCutLines(page)).toBe(0);
      await page.getByRole('button', { name: 'Show Documentation Explorer' }).click();
      expect(await countCutPixels(docs.getByRole('combobox'))).toBe(0);
      await docs.getByRole('link', { name: 'WritingPurpose' }).scrollIntoViewIfNeeded();
      expect(await docs.getByRole('link', { name: /^_/ }).count()).toBe(0);

      await page.getByRole('button', { name: 'Show GraphiQL Explorer' }).click();
      const pane = await boxOf(explorer);
      for (const entry of ['Explorer', 'query', 'allowances', 'bank']) {
        const box = await boxOf(explorer.getByText(entry, { exact: true }).first());
        expect(box.x).toBeGreaterThanOrEqual(pane.x);
        expect(box.y).toBeGreaterThanOrEqual(pane.y);
        expect(box.x + box.width).toBeLessThanOrEqual(pane.x + pane.width);
        expect(box.y + box.height).toBeLessThanOrEqual(pane.y + pane.height);
      }
      expect(await explorer.getByText('ibanValidations', { exact: true }).count()).toBeGreaterThan(0);
      expect(await explorer.getByText(/^_/).count()).toBe(0);
    }
    await expectAccessible(page);
  });

  it('completes field names and shows the documentation of types', async () => {
    const page = dark();
    await expectAccessible(page);
    await editorOf(page).getByText('OneIban').click();
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
    await expectAccessible(page);
  });

  it('selects and closes tabs by keys', async () => {
    const page = light();
    const isSelected = page.locator('[aria-current=true]');
    await page.getByRole('button', { name: 'New tab' }).press('Enter');
    await tabsOf(page).and(isSelected).and(page.getByText('<untitled>')).waitFor();
    await expectAccessible(page);
    const [, second = '', ...others] = await tabsOf(page).allInnerTexts();
    await tabsOf(page).first().press('Enter');
    await tabsOf(page).first().and(isSelected).waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await expect.poll(() => tabsOf(page).allInnerTexts()).toEqual([second, ...others]);
  });
});

const desktop = { width: 1280, height: 800 };
const phone = { width: 390, height: 844 };

/** Checks the page at the width of a desktop and of a phone. */
async function expectAccessible(page: Page): Promise<void> {
  for (const size of [phone, desktop]) {
    await page.setViewportSize(size);
    expect(await findAccessibilityProblems(page)).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(size.width);
  }
}

const executeButton = (page: Page) => page.getByRole('button', { name: 'Execute query' });
const editorOf = (page: Page) => page.getByRole('region', { name: 'Operation Editor' });
const tabsOf = (page: Page) =>
  page.getByRole('list', { name: 'Select active operation' }).locator('.graphiql-tab-button');
const resultOf = (page: Page) => page.getByRole('region', { name: 'Result Window' });
const historyOf = (page: Page) => page.getByRole('region', { name: 'History' });

async function showHistory(page: Page): Promise<void> {
  const show = page.getByRole('button', { name: 'Show History' });
  if ((await show.count()) > 0) await show.click();
}

interface Executed {
  data: Record<string, Record<string, unknown> | null>;
  errors?: unknown[];
  variables: unknown;
}

async function execute(page: Page, name: string): Promise<Executed> {
  const [request] = await Promise.all([requestOf(page, name), choose(page, name)]);
  const response = await request.response();
  return { ...(await response?.json()), variables: request.postDataJSON().variables };
}

function requestOf(page: Page, name: string) {
  return page.waitForRequest((request) => request.postDataJSON()?.operationName === name);
}

async function choose(page: Page, name: string): Promise<void> {
  await openTab(page, name);
  await executeButton(page).click();
}

/** By one click, in its tab or, if it has none, in the present one. */
async function openTab(page: Page, name: string): Promise<void> {
  const tab = tabsOf(page).and(page.getByText(name, { exact: true }));
  if ((await tab.count()) > 0) await tab.first().click();
  else {
    await showHistory(page);
    await historyOf(page).getByRole('button', { name, exact: true }).first().click();
  }
  await tab.and(page.locator('[aria-current=true]')).waitFor();
  // GraphiQL saves a tab once it has read its operation: until then, it may run that of the tab before.
  await editorOf(page).getByText(name).first().waitFor();
  await expect.poll(() => page.evaluate(savedOperation)).toBe(name);
}

/** The name of the operation in the active tab, as GraphiQL saved it. */
const savedOperation = `(({ tabs, activeTabIndex }) => tabs[activeTabIndex].operationName)(
  JSON.parse(localStorage.getItem('graphiql:tabState')),
)`;

/** Characters that fit into a line of the editor, left of its buttons. */
async function countColumns(page: Page): Promise<number> {
  const line = editorOf(page).getByText('# One IBAN, in any format');
  const [text, toolbar] = [await boxOf(line), await boxOf(executeButton(page))];
  return Math.floor((toolbar.x - text.x) / (text.width / (await line.innerText()).length));
}

/** How much of a placeholder is cut. `scrollWidth` includes only values, so the placeholder becomes the value. */
function countCutPixels(field: Locator): Promise<number> {
  return field.evaluate((input: HTMLInputElement) => {
    input.value = input.placeholder;
    const cut = input.scrollWidth - input.clientWidth;
    input.value = '';
    return cut;
  });
}

/** Lines of the operation editor that are wider than it. */
function countCutLines(page: Page): Promise<number> {
  return editorOf(page)
    .locator('.view-line > span')
    .evaluateAll((lines) => {
      const rightOf = (element?: Element | null) => element?.getBoundingClientRect().right ?? 0;
      return lines.filter((line) => rightOf(line) > rightOf(line.closest('.graphiql-editor'))).length;
    });
}

/** Monaco replaces its lines while it loads: between `waitFor` and `boundingBox`, an element may be removed. */
async function boxOf(locator: Locator) {
  for (;;) {
    await locator.waitFor();
    const box = await locator.boundingBox();
    if (box) return box;
  }
}

function descriptionOf(type: string, field?: string): string {
  const definition = schema.getType(type) as GraphQLObjectType;
  return (field === undefined ? definition : definition.getFields()[field])?.description ?? '';
}
