import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { as, ec, jwt, keyOf, pemOf, sha256, tToken } from '../../support/gateway/callers.ts';
import { tListeningGateway, watchWithAll } from '../../support/gateway/http/listening-gateway.ts';
import { tFolder } from '../../support/gateway/stores/folder.ts';
import { replyHeld, replyJson, tUpstream } from '../../support/scripted-upstream.ts';

/* Subscriptions that end because the authorization of their caller ends, with the real clients. */

const text = 'Pens last longer than their owners, and they leak. '.repeat(20);
const start = `mutation {
  startEssay(input: { description: "Pens", wordCount: 100, idempotencyKey: "form-1" }) { ... on EssayOrder { id } }
}`;

/** An order that is being written, and three clients that watch it. */
async function tWatched(env: Record<string, string>, headers: Record<string, string>) {
  const { reply, release } = replyHeld(replyJson(200, { essay: text }));
  const upstream = await tUpstream(reply);
  const gateway = await tListeningGateway({ GATEWAY_AUTH: '', ...env }, upstream);
  onTestFinished(release);
  const called = upstream.nextCall();
  const { data } = (await gateway.post({ query: start }, headers)).json() as { data: { startEssay: { id: string } } };
  await called;
  const watches = watchWithAll({ url: gateway.url, id: data.startEssay.id, headers });
  await vi.waitUntil(() => watches.every(({ states }) => states.length > 0));
  return { ...gateway, upstream, watches, release, id: data.startEssay.id };
}

type Watched = Awaited<ReturnType<typeof tWatched>>;

async function expectRefused({ watches }: Watched): Promise<void> {
  for (const { states, errors, ended } of watches) {
    await ended;
    expect(new Set(errors)).toEqual(new Set(['UNAUTHENTICATED']));
    expect(new Set(states.map(({ __typename }) => __typename))).toEqual(new Set(['EssayWriting']));
  }
}

/** With a token that expires in 5 minutes. The clients use the other timers. */
async function tWithToken() {
  vi.useFakeTimers({ toFake: ['Date', 'setInterval', 'clearInterval'] });
  const authorization = async () => ({ authorization: `Bearer ${await tToken({ scope: 'essays' })}` });
  const watched = await tWatched({ ...jwt, JWT_PUBLIC_KEY: pemOf(ec.publicKey) }, await authorization());
  return { ...watched, authorization };
}

it('does not show the next state to a caller whose token has expired, and says why', async () => {
  const watched = await tWithToken();
  vi.setSystemTime(Date.now() + 300_000 + 31_000);
  watched.release();
  await expectRefused(watched);
  const [again] = watchWithAll({ ...watched, headers: await watched.authorization() });
  await again?.ended;
  expect(again?.states.at(-1)).toMatchObject({ __typename: 'EssayFinished' });
  expect(watched.upstream.calls).toHaveLength(1);
});

it('ends a subscription without new states soon after its token has expired, and not before', async () => {
  const watched = await tWithToken();
  vi.setSystemTime(Date.now() + 300_000 + 20_000);
  await vi.advanceTimersByTimeAsync(5_000);
  for (const { errors } of watched.watches) expect(errors).toEqual([]);
  vi.setSystemTime(Date.now() + 10_000);
  await vi.advanceTimersByTimeAsync(5_000);
  await expectRefused(watched);
});

it.each([
  ['withdrawn', []],
  ['left without the scope', ['bank-data']],
])('ends a subscription when the key of its caller is %s', async (_, scopes) => {
  const file = join(tFolder(), 'keys.json');
  const write = (keys: object[]) => writeFileSync(file, JSON.stringify({ keys }));
  const keyFor = (name: string, scopes: string[]) => ({ name, sha256: sha256(keyOf(name)), scopes });
  write([keyFor('shop', ['essays'])]);
  const watched = await tWatched({ GATEWAY_API_KEYS_FILE: file }, as('shop'));
  write(scopes.length === 0 ? [] : [keyFor('shop', scopes)]);
  const sends = () => watched.post({ query: '{ essayOrders { nodes { id } } }' }, as('shop'));
  await vi.waitUntil(async () => (await sends()).json().errors !== undefined);
  watched.release();
  await expectRefused(watched);
});

it('goes on while the file with keys changes for others', async () => {
  const file = join(tFolder(), 'keys.json');
  const keyFor = (name: string) => ({ name, sha256: sha256(keyOf(name)), scopes: ['essays'] });
  writeFileSync(file, JSON.stringify({ keys: [keyFor('shop'), keyFor('old')] }));
  const watched = await tWatched({ GATEWAY_API_KEYS_FILE: file }, as('shop'));
  writeFileSync(file, JSON.stringify({ keys: [keyFor('shop'), keyFor('new')] }));
  const statusOf = async (name: string) => (await watched.post({ query: '{ __typename }' }, as(name))).status;
  await vi.waitUntil(async () => (await statusOf('new')) === 200 && (await statusOf('old')) === 401);
  watched.release();
  for (const { states, errors, ended } of watched.watches) {
    await ended;
    expect(errors).toEqual([]);
    expect(states.at(-1)).toMatchObject({ __typename: 'EssayFinished' });
  }
});
