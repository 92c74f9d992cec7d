import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { fencedBlocks } from '../support/docs/blocks.ts';
import { bankDataKey, essaysKey, tGateway } from '../support/gateway.ts';
import { replyJson, tUpstream } from '../support/scripted-upstream.ts';

/* Sends every response of docs/upstreams.md to the gateway, and compares its requests with the page. */

const page = readFileSync(new URL('../../docs/upstreams.md', import.meta.url), 'utf8');
const examples = fencedBlocks(page).filter(({ language }) => language === 'json');
const answers = new Map(examples.map(({ heading, text }) => [heading, JSON.parse(text)]));

/** The documented parameters of an endpoint, in order. */
function parametersOf(heading: string): string[] {
  const section = page.split(`### ${heading}\n`)[1]?.split('\n## ')[0]?.split('\n### ')[0] ?? '';
  const cells = [...section.matchAll(/^\| (`[^|]+) \|/gm)].map(([, cell = '']) => cell);
  return cells.flatMap((cell) => [...cell.matchAll(/`(\w+)`/g)].map(([, name = '']) => name));
}

const bank = { name: 'Commerzbank', bic: 'COBADEFFXXX' };
const federalReserve = { name: 'Federal Reserve Bank', bic: null, bankCode: '011000015' };
const cases = [
  {
    heading: 'GET /bank_data/iban_validate',
    query:
      '{ ibanValidation(iban: "DE89 3704 0044 0532 0130 00") { valid ibanData { accountNumber } bankData { name bic } } }',
    answer: { ibanValidation: { valid: true, ibanData: { accountNumber: '0532013000' }, bankData: bank } },
  },
  {
    heading: 'GET /bank_data/swift_check',
    query: '{ bicValidation(bic: "COBADEFFXXX") { valid bankData { name bic } } }',
    answer: { bicValidation: { valid: true, bankData: bank } },
  },
  {
    heading: 'GET /bank_data/all',
    query: '{ banks(country: "DE", search: "a") { nodes { name bic bankCode } pageInfo { hasNextPage } } }',
    answer: {
      banks: { nodes: [{ ...bank, bankCode: '37040044' }, federalReserve], pageInfo: { hasNextPage: false } },
    },
  },
  {
    heading: 'GET /bank_data/iban_generate',
    query: `{
      generateIban(input: { country: "DE", bankCode: "37040044", accountNumber: "532013000" }) {
        ... on IbanValidation { iban bankData { name bic } }
      }
    }`,
    answer: { generateIban: { iban: 'DE89370400440532013000', bankData: bank } },
    isAbsent: ['branch'],
  },
  {
    heading: 'POST /v2/generate/essay/',
    query: `mutation {
      generateEssay(input: { description: "Pens", wordCount: 30, purpose: ARGUMENTATIVE, titles: ["First", "Second"] }) {
        ... on Essay { wordCount }
      }
    }`,
    answer: { generateEssay: { wordCount: 11 } },
  },
];

describe('docs/upstreams.md', () => {
  it('has a response for each endpoint that the gateway calls', () => {
    expect([...answers.keys()].toSorted()).toEqual(cases.map(({ heading }) => heading).toSorted());
  });

  it.each(cases)(
    'shows a response that the gateway reads, and its request: $heading',
    async ({ heading, ...example }) => {
      const [method, path] = heading.split(' ');
      const isEssay = method === 'POST';
      const upstream = await tUpstream(replyJson(200, answers.get(heading)));
      const env = { ESSAY_URL: upstream.url, ESSAY_API_KEY: essaysKey };
      const gateway = tGateway(isEssay ? { essaysUrl: upstream.url, env } : { bankDataUrl: upstream.url });
      expect(await gateway.ask(example.query)).toEqual({ data: example.answer });

      const [call] = upstream.calls;
      expect(upstream.calls.map((each) => [each.method, each.path])).toContainEqual([method, path]);
      expect(call?.headers).toMatchObject({
        accept: 'application/json',
        'accept-encoding': 'identity',
        ...(isEssay ? { token: essaysKey, 'content-type': 'application/json' } : { apikey: bankDataKey }),
      });
      const sent = isEssay ? Object.keys(JSON.parse(call?.body ?? '')) : [...(call?.query.keys() ?? [])];
      const documented = parametersOf(heading).filter((name) => !example.isAbsent?.includes(name));
      expect(sent.toSorted()).toEqual(documented.toSorted());
      if (isEssay) {
        const { description, mode } = JSON.parse(call?.body ?? '');
        expect(mode).toBe('Standard');
        expect(description).toBe('Pens\n\nWriting purpose: argumentative.\n\nTitle options: First, Second.');
      }
    },
  );
});
