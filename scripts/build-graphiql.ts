import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { renderGraphiQL } from '@graphql-yoga/render-graphiql';
import { Kind, parse } from 'graphql';
import { type BuiltPage, fileNames } from '../src/gateway/http/graphiql.ts';
import { adaptGraphiql, type Example } from './adapt-graphiql.ts';
import { writeFile } from './write-file.ts';

/** Renders the GraphiQL page and compresses it, unless the folder has the same page. */
export async function buildGraphiql(folder: string): Promise<void> {
  const examples = readExamples();
  const options = {
    title: 'Ledgerquill',
    endpoint: '/graphql',
    method: 'POST' as const,
    ...readLogo(),
    defaultTabs: examples.slice(0, tabs),
  };
  const html = adaptGraphiql(renderGraphiQL(options), examples.slice(tabs));
  const script = html.slice(html.indexOf('<script>') + '<script>'.length, html.lastIndexOf('</script>'));
  const page: BuiltPage = {
    etag: `W/"${hash(html, 'base64url')}"`,
    scriptHash: hash(script, 'base64'),
    length: Buffer.byteLength(html),
  };
  const json = JSON.stringify(page);
  if (readIfPresent(`${folder}/page.json`) === json) return;
  mkdirSync(folder, { recursive: true });
  const files = await Promise.all([promisify(gzip)(html), promisify(brotliCompress)(html, { params })]);
  writeFile(`${folder}/${fileNames.gzip}`, files[0]);
  writeFile(`${folder}/${fileNames.br}`, files[1]);
  // Last: it states that the others are complete.
  writeFile(`${folder}/page.json`, json);
}

function readLogo() {
  const logo = readFileSync(new URL('quill.svg', import.meta.url), 'utf8');
  return {
    // GraphiQL shows it in a box of 40 pixels, next to the title.
    logo: logo.replace('<svg', '<svg width="30"'),
    favicon: `data:image/svg+xml,${encodeURIComponent(logo)}`,
  };
}

/** More tabs do not fit beside each other. The further examples are in the history. */
const tabs = 6;

/** Each operation with its comment and its variables but ids, which the page adds. All work unchanged without keys. */
function readExamples(): Example[] {
  const text = readFileSync(new URL('graphiql-example.graphql', import.meta.url), 'utf8');
  const ibans = ['FR14 2004 1010 0505 0001 3M02 606', 'GB29NWBK60161331926819', 'DE89370400440532013001'];
  const values = Object.entries({ after: null, ibans });
  let start = 0;
  return parse(text).definitions.map((definition) => {
    if (definition.kind !== Kind.OPERATION_DEFINITION) throw new Error(`an example is a ${definition.kind}`);
    const query = `${text.slice(start, definition.loc?.end).trim()}\n`;
    start = definition.loc?.end ?? 0;
    const used = values.filter(([name]) => query.includes(`$${name}:`));
    const variables = used.length > 0 && { variables: JSON.stringify(Object.fromEntries(used), null, 2) };
    return { query, ...variables, operationName: definition.name?.value ?? '' };
  });
}

/** 9.1 MB become 1.9 MB within half a second. Quality 9 takes four times as long and saves another 3 %. */
const params = { [constants.BROTLI_PARAM_QUALITY]: 6 };

function hash(text: string, encoding: 'base64' | 'base64url'): string {
  return createHash('sha256').update(text).digest(encoding);
}

function readIfPresent(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}
