import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

export interface GraphiqlPage {
  html: Buffer;
  gzipped: Buffer;
}

/**
 * The GraphiQL page, complete in itself: scripts, styles and workers come from the installed package, so it works
 * without internet. It is 9 MB of text, so it is read at the first visit only.
 */
export function createGraphiql(): () => Promise<GraphiqlPage> {
  let page: Promise<GraphiqlPage> | undefined;
  return () => {
    page ??= render();
    return page;
  };
}

async function render(): Promise<GraphiqlPage> {
  const { renderGraphiQL } = await import('@graphql-yoga/render-graphiql');
  const html = Buffer.from(renderGraphiQL({ title: 'Ledgerquill', endpoint: '/graphql', defaultTabs: exampleTabs }));
  return { html, gzipped: await promisify(gzip)(html) };
}

/** Each works as it stands against the self-hosted services. */
export const exampleTabs = [
  {
    query: `# One IBAN, written any way you like.
query OneIban {
  ibanValidation(iban: "DE89 3704 0044 0532 0130 00") {
    valid
    problems
    ibanData { country sepaCountry bankCode accountNumber }
    bankData { name bic }
  }
}
`,
  },
  {
    query: `# Many at once: answered in the order asked, each looked up once.
query ManyIbans($ibans: [String!]!) {
  ibanValidations(ibans: $ibans) {
    iban
    valid
    problems
    countryIbanExample
  }
}
`,
    variables: JSON.stringify(
      { ibans: ['FR14 2004 1010 0505 0001 3M02 606', 'GB29NWBK60161331926819', 'DE89370400440532013001'] },
      null,
      2,
    ),
  },
  {
    query: `# An essay, and everything that may come instead of one.
mutation WriteEssay($input: GenerateEssayInput!) {
  generateEssay(input: $input) {
    ... on Essay { text wordCount }
    ... on InvalidEssayInput { field message }
    ... on EssayAllowanceExhausted { message renewsAt }
    ... on EssayServiceFailed { message retryable }
  }
}
`,
    variables: JSON.stringify(
      {
        input: {
          description:
            'The history of the fountain pen: early reservoirs, the first reliable feed, and why people still write with one.',
          mode: 'STANDARD',
          wordCount: 250,
        },
      },
      null,
      2,
    ),
  },
];
