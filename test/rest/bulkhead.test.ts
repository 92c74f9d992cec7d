import { expect, it } from 'vitest';
import { limited } from '../../src/rest/bulkhead.ts';
import { tCaller } from '../caller.ts';
import { answers, fails, get, tSlowClient } from './client.ts';

const at = (path: string) => ({ ...get, path });

it('lets so many calls through, so many wait, and sheds the rest at once', async () => {
  const { client, held } = tSlowClient();
  const { send } = limited(client, { maxConcurrency: 2, maxQueue: 1 });
  const sent = ['/1', '/2', '/3'].map((path) => send(at(path), tCaller()));
  expect(await send(at('/4'), tCaller())).toEqual(fails('shed'));
  expect(held.map(({ path }) => path)).toEqual(['/1', '/2']);
  held[0]?.answer(answers(200));
  expect(await sent[0]).toEqual(answers(200));
  await Promise.resolve();
  expect(held.map(({ path }) => path)).toEqual(['/1', '/2', '/3']);
  for (const { answer } of held) answer(answers(200));
  expect(await Promise.all(sent)).toHaveLength(3);
});

it('drops the turn of a caller who left while waiting, and goes on with the next', async () => {
  const { client, held } = tSlowClient();
  const { send } = limited(client, { maxConcurrency: 1 });
  const leaver = new AbortController();
  const first = send(at('/1'), tCaller());
  const left = [send(at('/2'), tCaller(leaver.signal)), send(at('/3'), tCaller(leaver.signal))];
  const last = send(at('/4'), tCaller());
  leaver.abort();
  held[0]?.answer(answers(200));
  await first;
  for (const outcome of await Promise.allSettled(left)) {
    expect(outcome).toMatchObject({ status: 'rejected', reason: { name: 'AbortError' } });
  }
  expect(held.map(({ path }) => path)).toEqual(['/1', '/4']);
  held[1]?.answer(answers(200));
  expect(await last).toEqual(answers(200));
});
