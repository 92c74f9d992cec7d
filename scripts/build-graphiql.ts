import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { renderGraphiQL } from '@graphql-yoga/render-graphiql';
import { parse } from 'graphql';
import { type BuiltPage, fileNames } from '../src/gateway/http/graphiql.ts';
import { adaptGraphiql } from './adapt-graphiql.ts';
import { writeFile } from './write-file.ts';

/** Renders the GraphiQL page and compresses it, unless the folder has the same page. */
export async function buildGraphiql(folder: string): Promise<void> {
  const options = {
    title: 'Ledgerquill',
    endpoint: '/graphql',
    method: 'POST' as const,
    ...readLogo(),
    ...readExample(),
  };
  const html = adaptGraphiql(renderGraphiQL(options));
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

/** A tab per operation, with its comment and its variables but ids, which the page adds. Works unchanged without keys. */
function readExample() {
  const text = readFileSync(new URL('graphiql-example.graphql', import.meta.url), 'utf8');
  const ibans = ['FR14 2004 1010 0505 0001 3M02 606', 'GB29NWBK60161331926819', 'DE89370400440532013001'];
  const values = Object.entries({ after: null, ibans });
  let start = 0;
  const defaultTabs = parse(text).definitions.map(({ loc }) => {
    const query = `${text.slice(start, loc?.end).trim()}\n`;
    start = loc?.end ?? 0;
    const used = values.filter(([name]) => query.includes(`$${name}:`));
    return { query, ...(used.length > 0 && { variables: JSON.stringify(Object.fromEntries(used), null, 2) }) };
  });
  return { defaultTabs };
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
