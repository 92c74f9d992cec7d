import { expect, it, onTestFinished } from 'vitest';
import { AbortableSignal } from '../../../src/base/async/signal.ts';
import { createLog } from '../../../src/base/log.ts';
import { createPaidEssays } from '../../../src/gateway/essays/paid-essays.ts';
import type { EssayOrderState, EssayResult } from '../../../src/gateway/essays/port.ts';
import { createRestEssays } from '../../../src/gateway/essays/rest/rest-essays.ts';
import { createLogEvents } from '../../../src/gateway/telemetry/log-events.ts';
import { tRequestContext } from '../../support/gateway/callers.ts';
import { modeNames, order, sendOrder } from '../../support/gateway/essays/generator.ts';
import { ann } from '../../support/gateway/essays/orders.ts';
import { createMemoryStore } from '../../support/gateway/stores/memory-store.ts';
import { tAllowance, tHttpClient } from '../../support/gateway/upstream/send.ts';
import { essaysKey } from '../../support/gateway.ts';
import { tHttpServer } from '../../support/loopback.ts';
import { tEssayService } from '../../support/self-hosted.ts';
import { tGate } from '../../support/turns.ts';

/* From the language model to the gateway, over HTTP: the text of an essay while it is written. */

const events = createLogEvents(createLog({ level: 'silent', redact: (text) => text }));

const tClient = (url: string, isSelfHosted: boolean) =>
  tHttpClient(url, {
    service: 'essays',
    key: { header: 'token', access: { apiKey: essaysKey } },
    ...{ isSelfHosted, timeoutMs: 60_000, backoffMs: 0 },
    events,
  });

const declared = { texts: null, error: null };
const redact = (text: string) => text;

/** Orders of the self-hosted service, or of the same one as a service of another operator, and the texts that they show. */
function tRestEssays(url: string, { isSelfHosted = true } = {}) {
  const client = tClient(url, isSelfHosted);
  const sender = createRestEssays({ client, modeNames, declared, isSelfHosted, keepMs: 1_000, redact, events });
  const texts: string[] = [];
  const generate = (onText: (text: string) => void = () => {}) =>
    sendOrder(sender, order, tRequestContext(), (text) => {
      texts.push(text);
      onText(text);
    });
  return { generate, texts };
}

/** The gateway's essays, with the self-hosted service. */
function tPaidEssays(url: string) {
  const orders = { maxRunning: 2, maxPerCaller: 2, cancelsSent: false };
  const essays = { upstream: null, modeNames, declared, keepDays: 1, orders };
  const paid = createPaidEssays({
    client: tClient(url, true),
    config: { essays } as unknown as Parameters<typeof createPaidEssays>[0]['config'],
    allowance: tAllowance(),
    budgets: { reserve: () => null, findRefusal: async () => null },
    isWithdrawn: () => false,
    redact,
    events,
    store: createMemoryStore(),
    onRecovered: () => {},
  });
  onTestFinished(async () => {
    await paid.stop();
    await paid.close();
  });
  return paid;
}

const first = 'City Bees\n\nBees fly to every flower of the town, and then they fly back home again with it.\n\n';
const second = 'They sleep at night. They wake up when the sun rises, and begin their work again without a pause.';

/** A model that thinks, writes the first part, and waits before the second part and the end. */
async function tModel(end: 'finish' | 'fail' | 'break') {
  const rest = tGate();
  const { url } = await tHttpServer(async (request, response) => {
    const prompt = (await request.toArray()).join('');
    // Only an essay in the object is shown while it is written.
    expect(prompt).toContain('response_format');
    const written = `{"essay":${JSON.stringify(first + second).slice(0, -1)}`;
    const send = (choice: object) =>
      response.write(`data: ${JSON.stringify({ choices: [{ index: 0, ...choice }] })}\n\n`);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const word of `<think>zzsecret</think>\n${written}`.split(/(?<= )/)) send({ delta: { content: word } });
    await rest.opened;
    if (end === 'break') response.destroy();
    else send({ delta: { content: '"}' }, finish_reason: end === 'finish' ? 'stop' : 'error' });
    response.end();
  });
  return { url, model: 'a-model', apiKey: null, timeoutMs: 60_000, finish: rest.open };
}

/** Orders an essay, and lets the model finish when some text was shown. */
async function orderFrom(end: 'finish' | 'fail' | 'break') {
  const { finish, ...llm } = await tModel(end);
  const { generate, texts } = tRestEssays(await tEssayService({ llm }));
  const shown = tGate();
  const result = generate(shown.open);
  await shown.opened;
  expect(texts.at(-1)).toMatch(/^City Bees\n\nBees fly to every flower/);
  expect(texts.join()).not.toMatch(/zzsecret|essay"/);
  finish();
  return { result: await result, texts };
}

it('is shown before the model has finished', async () => {
  const { result, texts } = await orderFrom('finish');
  expect(result).toMatchObject({ kind: 'essay', writer: 'MODEL', text: first + second });
  const { text } = result as Extract<EssayResult, { kind: 'essay' }>;
  for (const shown of texts) expect(text.startsWith(shown)).toBe(true);
});

it.each(['fail', 'break'] as const)('is the raw text of an order whose model does not finish: %s', async (end) => {
  const { result, texts } = await orderFrom(end);
  expect(result).toEqual({
    kind: 'service-failed',
    message: 'The essay service failed.',
    code: 'UPSTREAM_FAILED',
    retryable: true,
    rawText: texts.at(-1),
  });
});

it('is the state of a started order that is watched', async () => {
  const { finish, ...llm } = await tModel('finish');
  const orders = tPaidEssays(await tEssayService({ llm }));
  const ordered = await orders.start(order, ann);
  const states: EssayOrderState[] = [];
  for await (const now of await orders.watch('id' in ordered ? ordered.id : '', ann.id, new AbortableSignal())) {
    if (now) states.push(now.state);
    if (now?.state.kind === 'writing' && now.state.textSoFar !== '') finish();
  }
  const writing = states.filter((state) => state.kind === 'writing');
  expect(writing.at(-1)?.textSoFar).toMatch(/^City Bees\n\nBees fly to every flower/);
  expect(states.at(-1)?.kind).toBe('finished');
});

it('is shown in paragraphs of the drafter', async () => {
  const { generate, texts } = tRestEssays(await tEssayService());
  expect(await generate()).toMatchObject({ kind: 'essay', writer: 'DRAFTER', text: texts.at(-1) });
});

it('is not asked of another service', async () => {
  const { generate, texts } = tRestEssays(await tEssayService(), { isSelfHosted: false });
  expect(await generate()).toMatchObject({ kind: 'essay' });
  expect(texts).toEqual([]);
});
