import { expect, it, vi } from 'vitest';
import { tGateway } from '../../support/gateway.ts';
import { type Reply, replyJson, replyText, tUpstream } from '../../support/scripted-upstream.ts';

const query = `query ($after: String) { banks(country: "DE", first: 100, after: $after) {
  nodes { bankCode } pageInfo { hasNextPage endCursor } } }`;

/** A list of 23 banks, one per page, whatever the request says. */
function replyOneBank(hasMeta: boolean): Reply {
  return (response, call) => {
    const page = Number(call.query.get('page'));
    const data = page > 23 ? [] : [{ iban_data: { bank_code: String(page - 1), country_code: 'DE' } }];
    const meta = { current_page: page, last_page: hasMeta ? 23 : null, per_page: 1, total: 23 };
    return replyJson(200, { data, meta })(response, call);
  };
}

async function tBanks(reply: Reply) {
  const upstream = await tUpstream(reply);
  const { ask } = tGateway({ bankDataUrl: upstream.url });
  const request = async (after: string | null = null) => {
    const { data, errors } = await ask(query, { after });
    const page = data?.banks as unknown as {
      nodes: { bankCode: string }[];
      pageInfo: { hasNextPage: boolean; endCursor: string };
    };
    return { codes: page?.nodes.map(({ bankCode }) => Number(bankCode)), ...page?.pageInfo, errors };
  };
  return { upstream, request };
}

it.each([true, false])(
  'makes at most ten calls for a page, and continues where it ended (last page known: %s)',
  async (hasMeta) => {
    const { upstream, request } = await tBanks(replyOneBank(hasMeta));
    const codes: number[] = [];
    let after: string | null = null;
    for (let hasNextPage = true; hasNextPage; ) {
      const calls = upstream.calls.length;
      const page = await request(after);
      expect(page.errors).toBeUndefined();
      expect(upstream.calls.length - calls).toBeLessThanOrEqual(10);
      codes.push(...page.codes);
      hasNextPage = page.hasNextPage === true;
      after = page.endCursor ?? null;
    }
    expect(codes).toEqual(Array.from({ length: 23 }, (_, index) => index));
  },
);

it('makes at most 9 calls more than two for each page of one query, and caches short pages for an hour', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const upstream = await tUpstream(replyOneBank(true));
  const { ask } = tGateway({ bankDataUrl: upstream.url });
  const cursor = (offset: number) => Buffer.from(`offset:${offset}`).toString('base64url');
  const page = (index: number) =>
    `p${index}: banks(country: "DE", first: 10, after: "${cursor(index)}") { nodes { bankCode } }`;
  const query = `{ ${Array.from({ length: 20 }, (_, index) => page(index)).join(' ')} }`;
  const { data, errors } = await ask(query);
  expect(errors).toBeUndefined();
  expect(upstream.calls.length).toBe(49);
  // However short a page is, it begins at its cursor.
  for (let index = 0; index < 20; index += 1) {
    const nodes = (data?.[`p${index}`]?.nodes ?? []) as unknown as { bankCode: string }[];
    expect(nodes.length).toBeGreaterThan(0);
    expect(nodes.map(({ bankCode }) => Number(bankCode))).toEqual(nodes.map((_, position) => index + 1 + position));
  }
  await ask(query);
  expect(upstream.calls.length).toBe(49);
  vi.setSystemTime(Date.now() + 2 * 3_600_000);
  await ask(query);
  expect(upstream.calls.length).toBeGreaterThan(49);
});

it('has one deadline for all calls of a page, and returns what was received', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  const { upstream, request } = await tBanks((response, call) => {
    vi.advanceTimersByTime(4_000);
    return replyOneBank(true)(response, call);
  });
  expect(await request()).toMatchObject({ codes: [0, 1], hasNextPage: true });
  expect(upstream.calls).toHaveLength(3);
});

it('returns an error if a later call fails for another reason, or the first one does not return in time', async () => {
  const { upstream, request } = await tBanks((response, call) =>
    (upstream.calls.length === 3 ? replyText(401, '') : replyOneBank(true))(response, call),
  );
  expect((await request()).errors).toMatchObject([{ extensions: { code: 'UPSTREAM_REJECTED_CREDENTIALS' } }]);
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  upstream.answers(() => void vi.advanceTimersByTime(10_000));
  expect((await request()).errors).toMatchObject([{ extensions: { code: 'UPSTREAM_TIMED_OUT' } }]);
});
