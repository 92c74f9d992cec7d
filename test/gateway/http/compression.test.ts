import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { getIntrospectionQuery } from 'graphql';
import { describe, expect, it } from 'vitest';
import { tListeningGateway, tSend } from '../../support/gateway/http/listening-gateway.ts';
import { replyJson, tUpstream } from '../../support/scripted-upstream.ts';
import { seenIbanValidation } from '../../support/self-hosted.ts';

const long = { query: getIntrospectionQuery() };
const decoders: Record<string, (body: Buffer) => Buffer> = {
  gzip: gunzipSync,
  br: brotliDecompressSync,
  identity: (body) => body,
};

describe('a response', () => {
  it.each([
    [undefined, 'identity'],
    ['', 'identity'],
    ['gzip, deflate, br, zstd', 'gzip'],
    ['br', 'br'],
    ['br;q=1.0, gzip;q=0.8', 'br'],
    ['gzip;q=0, br;q=0.1', 'br'],
    ['gzip;q=0.1, identity', 'identity'],
    ['*', 'gzip'],
    ['*;q=0', 'identity'],
    ['deflate', 'identity'],
    ['GZIP', 'gzip'],
  ])('is sent to a client that accepts %j as %s', async (accepted, encoding) => {
    const { post } = await tListeningGateway();
    const plain = await post(long);
    const response = await post(long, accepted === undefined ? {} : { 'accept-encoding': accepted });
    expect(response.headers['content-encoding'] ?? 'identity').toBe(encoding);
    expect(response.headers['content-length']).toBe(String(response.body.byteLength));
    expect(response.headers.vary).toContain('accept-encoding');
    expect(decoders[encoding]?.(response.body).equals(plain.body)).toBe(true);
    if (encoding !== 'identity') expect(response.body.byteLength).toBeLessThan(plain.body.byteLength / 4);
  });

  it.each([
    ['ASCII', 'Commerzbank', 1],
    ['Latin-1', 'Bank für Köln', 1],
    ['all of Unicode', 'Bank “Köln”, 10 €, 😀', 1],
    ['all of Unicode, long', 'Bank “Köln”, 10 €, 😀', 100],
  ])('that is kept has the same bytes as the first one, with texts of %s', async (_, name, count) => {
    const { bank_data, ...seen } = seenIbanValidation;
    const upstream = await tUpstream(replyJson(200, { ...seen, bank_data: { ...bank_data, name } }));
    const { post } = await tListeningGateway({}, upstream);
    const fields = Array.from({ length: count }, (_, index) => `a${index}: bankData { name }`).join(' ');
    const question = { query: `{ ibanValidation(iban: "${seen.iban}") { ${fields} } }` };
    const encodings = ['identity', 'identity', 'identity', 'gzip', 'gzip', 'br'];
    const replies: Buffer[] = [];
    for (const encoding of encodings) {
      const { headers, body } = await post(question, { 'accept-encoding': encoding });
      expect(headers['content-length']).toBe(String(body.byteLength));
      replies.push(decoders[headers['content-encoding'] ?? 'identity']?.(body) ?? Buffer.of());
    }
    expect(replies[0]?.toString()).toContain(`"a0":{"name":"${name}"}`);
    expect(replies).toEqual(encodings.map(() => replies[0]));
  });

  it('that fits into a packet is not compressed', async () => {
    const { post } = await tListeningGateway();
    const response = await post({ query: '{ __typename }' }, { 'accept-encoding': 'gzip, br' });
    expect(response.headers['content-encoding']).toBeUndefined();
    expect(response.headers.vary).toContain('accept-encoding');
    expect(response.json()).toEqual({ data: { __typename: 'Query' } });
  });
});

describe('the GraphiQL page', () => {
  const html = { accept: 'text/html,application/xhtml+xml' };
  const encodings = [
    ['gzip, deflate, br, zstd', 'br', 2_100_000],
    ['gzip', 'gzip', 2_600_000],
    ['', 'identity', 10_000_000],
  ] as const;

  it('is the same in each encoding that a client accepts, with its length', async () => {
    const { url } = await tListeningGateway();
    const pages = await Promise.all(
      encodings.map(async ([accepted, encoding, maxBytes]) => {
        const { headers, body } = await tSend(url, { headers: { ...html, 'accept-encoding': accepted } });
        expect(headers['content-encoding'] ?? 'identity').toBe(encoding);
        expect(headers['content-length']).toBe(String(body.byteLength));
        expect(body.byteLength).toBeLessThan(maxBytes);
        expect(headers.vary).toBe('accept, accept-encoding');
        return decoders[encoding]?.(body).toString();
      }),
    );
    expect(pages[0]).toContain('<title>Ledgerquill</title>');
    expect(pages[0]).toMatch(/<\/html>\s*$/);
    expect(new Set(pages).size).toBe(1);
  });

  it('has headers only for HEAD', async () => {
    const { url } = await tListeningGateway();
    const { status, headers, body } = await tSend(url, { method: 'HEAD', headers: html });
    expect([status, body.byteLength]).toEqual([200, 0]);
    expect(Number(headers['content-length'])).toBeGreaterThan(1_000_000);
  });
});
