import { describe, expect, it, vi } from 'vitest';
import { createRedactions } from '../../../src/base/redact.ts';
import { ReceivedLines } from '../../../src/gateway/upstream/response.ts';
import { tRequestContext } from '../../support/gateway/callers.ts';
import { post, tHttpClient } from '../../support/gateway/upstream/send.ts';
import { createRandom } from '../../support/random.ts';
import { type Reply, replyText, tUpstream } from '../../support/scripted-upstream.ts';
import { tGate } from '../../support/turns.ts';

const secret = 'seeded-key';
const redactSecrets = createRedactions([secret]).redactSecrets;
const readText = (line: unknown) => {
  const text = (line as { text?: unknown } | null | undefined)?.text;
  return typeof text === 'string' ? text : null;
};
const toLines = (...values: object[]) => values.map((value) => `${JSON.stringify(value)}\n`).join('');
const essay = { essay: 'Bees 🐝 fly.\n\nThey sleep.' };
const body = toLines({ text: 'Bees 🐝 ' }, { text: 'fly.' }, { text: '\n\nThey ' }, essay);

/** Calls a service with lines, and records each text so far. */
async function tCall(reply: Reply, { maxResponseBytes = 100_000, isAborted = false } = {}) {
  const texts: string[] = [];
  const shown = tGate();
  const caller = new AbortController();
  const upstream = await tUpstream(reply);
  const key = { header: 'token', access: { apiKey: secret } };
  const { send } = tHttpClient(upstream.url, { service: 'essays', key, maxResponseBytes });
  const onText = (text: string) => {
    texts.push(text);
    shown.open();
    if (isAborted) caller.abort();
  };
  const endpoint = { ...post, path: '/', lines: () => ({ readText, onText }) };
  const outcome = send(endpoint, tRequestContext(caller.signal));
  return { outcome, texts, shown: shown.opened, upstream };
}

/** Writes the pieces one after the other, then ends the body or breaks the connection. */
function replyPieces(pieces: readonly (string | Uint8Array)[], end: 'end' | 'destroy' | 'wait' = 'end'): Reply {
  return async (response) => {
    response.writeHead(200, { 'content-type': 'application/x-ndjson' });
    for (const piece of pieces) await new Promise((resolve) => response.write(piece, resolve));
    if (end !== 'wait') response[end]();
  };
}

describe('lines of an answer', () => {
  it('are accepted beside JSON', async () => {
    const { outcome, upstream } = await tCall(replyText(200, body));
    await outcome;
    expect(upstream.calls[0]?.headers).toMatchObject({
      accept: 'application/x-ndjson, application/json',
      'content-type': 'application/json',
      token: secret,
    });
  });

  it('are read while they arrive, and the last one is the answer', async () => {
    const rest = tGate();
    const { outcome, texts, shown } = await tCall(async (response) => {
      response.write(body.slice(0, 30));
      await rest.opened;
      response.end(body.slice(30));
    });
    await shown;
    expect(texts).toEqual(['Bees 🐝 ']);
    rest.open();
    expect(await outcome).toMatchObject({ kind: 'answered', status: 200, json: essay, text: 'Bees 🐝 fly.\n\nThey ' });
    expect(texts.at(-1)).toBe('Bees 🐝 fly.\n\nThey ');
  });

  it('may be cut anywhere', () => {
    const random = createRandom(1);
    const bytes = Buffer.from(body);
    for (let round = 0; round < 200; round += 1) {
      const texts: string[] = [];
      const lines = new ReceivedLines({ readText, onText: (text) => texts.push(text) }, redactSecrets);
      for (let at = 0; at < bytes.length; ) {
        const size = 1 + random(40);
        lines.add(bytes.subarray(at, at + size));
        at += size;
      }
      expect(lines.end()).toEqual(essay);
      expect(lines.text()).toBe('Bees 🐝 fly.\n\nThey ');
      for (const [index, text] of texts.entries()) {
        expect(lines.text().startsWith(text)).toBe(true);
        expect(text.length).toBeGreaterThan(texts[index - 1]?.length ?? 0);
      }
    }
  });

  it.each<[string, string, object]>([
    ['JSON without lines', JSON.stringify(essay), { kind: 'answered', json: essay, text: JSON.stringify(essay) }],
    ['JSON over several lines', JSON.stringify(essay, null, 2), { kind: 'answered', json: essay }],
    ['a last line alone', toLines(essay), { kind: 'answered', json: essay, text: toLines(essay) }],
    ['a last line without a line break', body.trimEnd(), { kind: 'answered', json: essay }],
    ['empty lines', body.replaceAll('\n', '\r\n\r\n'), { kind: 'answered', json: essay }],
    ['what is not JSON', 'plain', { kind: 'answered', json: undefined, text: 'plain' }],
    ['a failure at the end', toLines({ text: 'Bees' }, { error: 'x' }), { json: { error: 'x' }, text: 'Bees' }],
    ['no last line', toLines({ text: 'Bees ' }, { text: 'fly.' }), { reason: 'truncated', text: 'Bees fly.' }],
    ['one line with text', toLines({ text: 'Bees' }).trim(), { reason: 'truncated', text: 'Bees' }],
    ['a part of the last line', body.slice(0, -9), { reason: 'truncated', text: 'Bees 🐝 fly.\n\nThey ' }],
  ])('may be %s', async (_, text, expected) => {
    const { outcome } = await tCall(replyText(200, text));
    expect(await outcome).toMatchObject(expected);
  });

  it('are not read if the status is another one than 200', async () => {
    const { outcome, texts } = await tCall(replyText(400, body));
    expect(await outcome).toMatchObject({ kind: 'answered', status: 400, text: body, json: undefined });
    expect(texts).toEqual([]);
  });
});

describe('lines that end too early', () => {
  it.each<[string, Reply, object, string]>([
    ['when the connection breaks', replyPieces([body.slice(0, 50)], 'destroy'), {}, 'truncated'],
    ['when there are too many bytes', replyPieces([body.slice(0, 50), body]), { maxResponseBytes: 52 }, 'too-large'],
  ])('are a failure with the text so far, %s', async (_, reply, options, reason) => {
    const { outcome } = await tCall(reply, options);
    expect(await outcome).toEqual({ kind: 'failed', reason, text: 'Bees 🐝 fly.' });
  });

  it('are a failure with the text so far, at the deadline', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    const { outcome, shown } = await tCall(replyPieces([body.slice(0, 30)], 'wait'));
    await shown;
    vi.advanceTimersByTime(10_000);
    expect(await outcome).toEqual({ kind: 'failed', reason: 'timed-out', text: 'Bees 🐝 ' });
  });

  it('are abandoned when the caller aborts, which closes the connection', async () => {
    const { outcome, texts, upstream } = await tCall(replyPieces([body.slice(0, 30)], 'wait'), { isAborted: true });
    await expect(outcome).rejects.toThrow('aborted');
    expect(texts).toEqual(['Bees 🐝 ']);
    await upstream.calls[0]?.aborted;
  });
});

describe('a secret', () => {
  it.each([
    ['in a line', [{ text: 'The key is seeded-key, yes.' }]],
    ['between two lines', [{ text: 'The key is see' }, { text: 'ded-key' }, { text: ', yes.' }]],
    ['one character per line', [...'The key is seeded-key, yes.'].map((text) => ({ text }))],
    ['in other letters and escaped', [{ text: 'The key is SEEDED\\u002dkey' }, { text: ', yes.' }]],
  ])('%s is not in the text, at any time', async (_, values) => {
    const { outcome, texts } = await tCall(
      replyPieces(
        values.map((value) => toLines(value)),
        'destroy',
      ),
    );
    expect(await outcome).toEqual({ kind: 'failed', reason: 'truncated', text: 'The key is [hidden], yes.' });
    for (const text of texts) expect(text).not.toMatch(/seed/i);
  });

  it('is not in the answer', async () => {
    const last = { essay: 'The key is seeded-key.', [secret]: 'seeded\u002dkey' };
    const { outcome } = await tCall(replyText(200, toLines({ text: 'The key' }, last)));
    expect(await outcome).toMatchObject({ json: { essay: 'The key is [hidden].', '[hidden]': '[hidden]' } });
  });
});
