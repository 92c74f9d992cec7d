import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { createDraftingWriter } from '../../src/essay-service/drafting-writer.ts';
import { apiKey, body, orderHead, tService } from '../support/essay-service/service.ts';
import { tGate } from '../support/turns.ts';

const accept = 'application/x-ndjson, application/json';

/** A writer that writes two parts, and then waits. */
function tSlowWriter() {
  const [finish, stopped] = [tGate(), tGate()];
  const answer = async (signal: AbortSignal, onText?: (part: string) => void) => {
    onText?.('Bees fly.');
    onText?.('\n\nThey');
    signal.addEventListener('abort', stopped.open);
    await finish.opened;
    signal.throwIfAborted();
    return 'Bees fly.\n\nThey sleep.';
  };
  return { answer, finish, stopped };
}

describe('lines of JSON', () => {
  it('are sent while the text is written, and end with the answer', async () => {
    const { answer, finish } = tSlowWriter();
    const { listen } = tService({ answer, monthlyAllowance: 3 });
    const response = await fetch(`${await listen()}/v2/generate/essay/`, {
      method: 'POST',
      headers: { token: apiKey, 'content-type': 'application/json', accept },
      body: JSON.stringify(body),
    });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/x-ndjson; charset=utf-8');
    expect(response.headers.get('x-ratelimit-remaining-month')).toBe('2');
    const input = Readable.fromWeb(response.body as import('node:stream/web').ReadableStream);
    const lines = createInterface({ input })[Symbol.asyncIterator]();
    // The writer has not finished.
    expect(JSON.parse((await lines.next()).value)).toEqual({ text: 'Bees fly.' });
    expect(JSON.parse((await lines.next()).value)).toEqual({ text: '\n\nThey' });
    finish.open();
    const last = { essay: 'Bees fly.\n\nThey sleep.', word_count: 4, writer: 'model' };
    expect(JSON.parse((await lines.next()).value)).toEqual(last);
    expect((await lines.next()).done).toBe(true);
  });

  it('are one line if nothing was written before the end', async () => {
    const answer = await tService().post(body, { accept });
    expect(answer.statusCode).toBe(200);
    expect(answer.headers['content-type']).toBe('application/x-ndjson; charset=utf-8');
    expect(answer.body).toBe('{"essay":"Bees are  insects.","word_count":3,"writer":"model"}\n');
  });

  it('are paragraphs if the drafter writes', async () => {
    const draft = createDraftingWriter();
    const order = { description: 'Bees: honey, wax and stings', mode: 'Standard', wordCount: 300 } as const;
    const { post } = tService({ answer: (signal, onText) => draft.write(order, signal, onText) });
    const lines = (await post(body, { accept })).body
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.length).toBeGreaterThan(3);
    const texts = lines.slice(0, -1).map(({ text }) => text);
    expect(texts.join('')).toBe(lines.at(-1).essay);
    for (const text of texts.slice(1)) expect(text).toMatch(/^\n\n\S/);
  });
});

describe('the media type of the answer', () => {
  const answer = async (_: AbortSignal, onText?: (part: string) => void) => {
    onText?.('Bees.');
    return 'Bees.';
  };
  it.each([
    ['application/x-ndjson', true],
    ['application/x-ndjson, application/json', true],
    ['application/json, application/x-ndjson', true],
    ['Application/X-NDJSON;q=0.5, text/html, */*;q=0.1', true],
    ['application/json;q=0.9,application/x-ndjson;q=1.0', true],
    ['application/x-ndjson;charset=utf-8; q=0.8, application/*;q=0.8', true],
    ['application/json, application/x-ndjson;q=0.9', false],
    ['application/x-ndjson;q=0.5, */*', false],
    ['application/x-ndjson;q=0', false],
    ['application/x-ndjson;q=high', false],
    ['application/json', false],
    ['application/*', false],
    ['*/*', false],
    ['text/html', false],
    [',;,', false],
    [undefined, false],
  ])('for the header accept: %s', async (header, isLines) => {
    const { post } = tService({ answer });
    const { body: text, headers } = await post(body, header === undefined ? {} : { accept: header });
    const last = '{"essay":"Bees.","word_count":1,"writer":"model"}';
    expect(text).toBe(isLines ? `{"text":"Bees."}\n${last}\n` : last);
    expect(headers['content-type']).toBe(`application/${isLines ? 'x-ndjson' : 'json'}; charset=utf-8`);
  });
});

describe('a failure', () => {
  const failing = (texts: readonly string[]) => async (_: AbortSignal, onText?: (part: string) => void) => {
    for (const text of texts) onText?.(text);
    throw new Error('the secret reason');
  };
  const error = 'The essay could not be written. Try again.';

  it('before the first line has its usual status and body', async () => {
    const { post, lines } = tService({ answer: failing([]), monthlyAllowance: 1 });
    for (const payload of [body, body]) {
      const failed = await post(payload, { accept });
      expect([failed.statusCode, failed.json()]).toEqual([500, { error }]);
      expect(failed.headers).toMatchObject({
        'content-type': 'application/json; charset=utf-8',
        'x-ratelimit-remaining-month': '1',
      });
    }
    expect(lines).toHaveLength(2);
    expect((await post({ ...body, word_count: 0 }, { accept })).statusCode).toBe(400);
    expect((await post(body, { accept, token: 'wrong' })).statusCode).toBe(401);
  });

  it('after the first line is the last line, is logged and does not use up the allowance', async () => {
    const { post, lines } = tService({ answer: failing(['Bees ', 'fly.']), monthlyAllowance: 1 });
    for (const payload of [body, body]) {
      const failed = await post(payload, { accept });
      expect(failed.statusCode).toBe(200);
      expect(failed.body).toBe(`{"text":"Bees "}\n{"text":"fly."}\n${JSON.stringify({ error })}\n`);
    }
    expect(lines).toHaveLength(2);
    expect(lines[0]).toContain('the secret reason');
  });
});

describe('a caller of lines', () => {
  const payload = JSON.stringify(body);
  const head = orderHead(apiKey, payload.length).replace('Host: x', `Host: x\r\nAccept: ${accept}`);

  it('that disconnects after the first line stops the writer, and does not use up the allowance', async () => {
    const { answer, stopped, finish } = tSlowWriter();
    const { connect, post, lines } = tService({ answer, monthlyAllowance: 1 });
    const caller = await connect();
    caller.write(head + payload);
    await once(caller, 'data');
    caller.destroy();
    await stopped.opened;
    // What the writer still does is ignored.
    finish.open();
    await new Promise((resolve) => setImmediate(resolve));
    expect((await post(body)).statusCode).toBe(200);
    expect(lines).toEqual([]);
  });

  it('that reads slowly does not stop the writer, and receives everything', async () => {
    const written = tGate();
    const part = `${'蜜蜂在城市里飞。'.repeat(250)}\n\n`;
    const { connect } = tService({
      async answer(_, onText) {
        for (let count = 0; count < 500; count += 1) onText?.(part);
        written.open();
        return part.repeat(500);
      },
    });
    const caller = await connect();
    caller.pause();
    caller.write(head.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n') + payload);
    await written.opened;
    let received = '';
    caller.setEncoding('utf8').on('data', (text) => {
      received += text;
    });
    caller.resume();
    await once(caller, 'end');
    expect(received.match(/\{"text":/g)).toHaveLength(500);
    expect(received).toMatch(/"writer":"model"\}\n/);
  });
});
