import { createHash } from 'node:crypto';
import { chooseEncoding, compress, type Encoding } from './compression.ts';
import type { Exchange } from './exchange.ts';

export interface GraphiqlPage {
  /** Weak: the same for all encodings. */
  etag: string;
  contentSecurityPolicy: string;
  encoded(encoding: Encoding): Promise<Uint8Array>;
}

/**
 * The GraphiQL page. It contains its scripts, styles and workers, so it works without internet access. It is
 * 9 MB large, so it is rendered and compressed on first use only.
 */
export function createGraphiql(): () => Promise<GraphiqlPage> {
  let page: Promise<GraphiqlPage> | undefined;
  return () => {
    page ??= render().catch((error: unknown) => {
      page = undefined;
      throw error;
    });
    return page;
  };
}

/** Sends the page, or 304 if the browser has it. */
export async function sendPage(exchange: Exchange, page: GraphiqlPage): Promise<void> {
  const headers = [
    ...['etag', page.etag, 'cache-control', 'no-cache', 'vary', 'accept, accept-encoding'],
    ...['content-security-policy', page.contentSecurityPolicy],
    // The URL can hold a query with IBANs.
    ...['referrer-policy', 'no-referrer'],
    // A page that opens GraphiQL with a mutation cannot move its window under a double click.
    ...['cross-origin-opener-policy', 'same-origin'],
  ];
  const cached = exchange.headers['if-none-match']?.split(',').map((tag) => tag.trim()) ?? [];
  if (cached.includes(page.etag) || cached.includes('*')) return exchange.send(304, headers);
  const encoding = chooseEncoding(exchange.request, ['br', 'gzip', 'identity']);
  const body = await page.encoded(encoding);
  if (encoding !== 'identity') headers.push('content-encoding', encoding);
  exchange.send(200, [...headers, 'content-type', 'text/html; charset=utf-8'], body);
}

async function render(): Promise<GraphiqlPage> {
  const { renderGraphiQL } = await import('@graphql-yoga/render-graphiql');
  const text = renderGraphiQL({ title: 'Ledgerquill', endpoint: '/graphql', defaultTabs: exampleTabs });
  const html = Buffer.from(text);
  const script = text.slice(text.indexOf('<script>') + '<script>'.length, text.lastIndexOf('</script>'));
  const etag = `W/"${createHash('sha256').update(html).digest('base64url')}"`;
  const bodies = new Map<Encoding, Promise<Uint8Array>>();
  return {
    etag,
    contentSecurityPolicy: createPolicy(createHash('sha256').update(script).digest('base64')),
    encoded(encoding) {
      const body = bodies.get(encoding) ?? compress(html, encoding, pageBrotliQuality);
      bodies.set(encoding, body);
      return body;
    },
  };
}

/** Allows the page's own script, the workers that it creates, and calls of this gateway. Framed, a click could pay. */
function createPolicy(scriptHash: string): string {
  return [
    "default-src 'none'",
    `script-src 'sha256-${scriptHash}'`,
    "style-src 'unsafe-inline'",
    'img-src data:',
    'font-src data:',
    'worker-src blob:',
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

/** 9.1 MB become 1.9 MB within a second; the highest quality takes ten times as long and saves another 10 %. */
const pageBrotliQuality = 5;

/** All work unchanged with the self-hosted services. */
export const exampleTabs = [
  {
    query: `# One IBAN, in any format.
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
    query: `# Several IBANs: results in the order of the input, one look-up per distinct IBAN.
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
    query: `# An essay, or one of the errors that can occur instead.
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
