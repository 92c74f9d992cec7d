import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { createBankLists, isOld } from '../../../src/banks/bank-lists.ts';
import { rightMessage } from '../../support/check/pain-messages.ts';
import { as, tCallers } from '../../support/gateway/callers.ts';
import { tListeningGateway } from '../../support/gateway/http/listening-gateway.ts';
import { tFolder } from '../../support/gateway/stores/folder.ts';
import { tIban } from '../../support/ibans.ts';
import { replyJson, replyWithIban, tUpstream } from '../../support/scripted-upstream.ts';
import { tGate } from '../../support/turns.ts';

/* POST /check, over HTTP. */

const wrong = 'DE89370400440532013001';
const lines = (body: string) => body.trimEnd().split('\n');
const tTable = (count: number) =>
  `Name,IBAN\n${Array.from({ length: count }, (_, n) => `P${n},${tIban(n)}\n`).join('')}`;

async function tSend(origin: string, body: string, headers: Record<string, string> = {}, search = '') {
  const type = { 'content-type': 'text/csv' };
  const response = await fetch(`${origin}/check${search}`, { method: 'POST', body, headers: { ...type, ...headers } });
  const received = await response.text();
  return { status: response.status, headers: response.headers, text: received, lines: () => lines(received) };
}

const codeOf = (body: string) => JSON.parse(body).errors[0].extensions.code;

describe('a file', () => {
  it('comes back in NDJSON, with the columns of the command, and each IBAN is asked once', async () => {
    const { origin, upstream, log } = await tListeningGateway({}, await tUpstream(replyWithIban));
    const reply = await tSend(origin, `Name;IBAN\nAnna;${tIban(1)}\nBob;${wrong}\nCara;${tIban(1)}\n`);
    expect(reply.status).toBe(200);
    expect(reply.headers.get('content-type')).toBe('application/x-ndjson');
    const rows = reply.lines().map((line) => JSON.parse(line));
    expect(rows.map(({ row, name, status, problems }) => [row, name, status, problems])).toEqual([
      [2, 'Anna', 'VALID', []],
      [3, 'Bob', 'INVALID', ['WRONG_CHECK_DIGITS']],
      [4, 'Cara', 'VALID', []],
    ]);
    expect(upstream.calls).toHaveLength(1);
    await expect.poll(log).toContain('"route":"/check"');
    expect(log()).toMatch(/"route":"\/check","status":200,"caller":"anonymous".*"lookUps":1.*"upstreamCalls":1/);
    expect(log()).not.toContain(tIban(1));
  });

  it('comes with the bank lists that are out of date, by the rule of all messages', async () => {
    const { origin } = await tListeningGateway({}, await tUpstream(replyWithIban));
    const old = createBankLists()
      .countries()
      .flatMap((country) => createBankLists().status(country) ?? [])
      .filter(isOld);
    const { headers } = await tSend(origin, `IBAN\n${tIban(1)}\n`);
    expect(headers.get('outdated-bank-lists')).toBe(old.map(({ country, date }) => `${country}=${date}`).join());
    expect(headers.get('outdated-bank-lists')).toMatch(/(^|,)IS=2021-11-16(,|$)/);
  });

  it('comes back in CSV if that is accepted, with its other rows', async () => {
    const { origin } = await tListeningGateway({}, await tUpstream(replyWithIban));
    const reply = await tSend(origin, `Payees\nName\tAccount\nAnna\t${tIban(1)}\n\n`, {
      accept: 'text/csv',
      'content-type': 'text/tab-separated-values; charset=utf-8',
    });
    expect(reply.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    const [above, titles, row, blank] = reply.text.split('\n');
    expect(above).toBe('Payees');
    expect(titles).toBe('Name\tAccount\tstatus\tproblems\tsuggestion\tbank\tbic\tbic_match\tnational_check\tiban');
    expect(row).toMatch(new RegExp(`^Anna\t${tIban(1)}\tVALID\t`));
    expect(blank).toBe('');
  });

  it('that is a payment message comes back as its findings', async () => {
    const { origin } = await tListeningGateway({}, await tUpstream(replyWithIban));
    const message = rightMessage('pain.001.001.09').replace('<NbOfTxs>3<', '<NbOfTxs>4<');
    const types = { 'content-type': 'application/xml' };
    const findings = (await tSend(origin, message, types)).lines().map((line) => JSON.parse(line));
    expect(findings).toContainEqual(
      expect.objectContaining({ code: 'TRANSACTION_COUNT_MISMATCH', severity: 'error', line: 7, suggestion: '3' }),
    );
    const asCsv = await tSend(origin, message, { ...types, accept: 'text/csv' });
    expect(asCsv.lines()[0]).toBe('file,code,severity,line,xpath,batch,payee,amount,end_to_end_id,message,suggestion');
  });

  it('has its columns by content, or by parameters of the URL', async () => {
    const { origin } = await tListeningGateway({}, await tUpstream(replyWithIban));
    const content = `Payer,Payee\n${tIban(1)},${tIban(2)}\n${tIban(1)},${tIban(3)}\n`;
    const ibansOf = ({ lines }: { lines(): string[] }) => lines().map((line) => JSON.parse(line).iban);
    expect(ibansOf(await tSend(origin, content))).toEqual([tIban(2), tIban(3)]);
    expect(ibansOf(await tSend(origin, content, {}, '?column=Payer'))).toEqual([tIban(1), tIban(1)]);
    expect((await tSend(origin, content, {}, '?columns=Payer')).status).toBe(400);
    expect((await tSend(origin, content, {}, '?column=Nothing')).status).toBe(400);
  });

  it('of many rows has them in their order, though nothing is read before all is sent', async () => {
    const { origin } = await tListeningGateway({ CHECK_MAX_IBANS: '3' }, await tUpstream(replyWithIban));
    // Longer than the buffers of the connection.
    const rows = 8_000;
    const table = `Name,IBAN\n${Array.from({ length: rows }, (_, n) => `${'x'.repeat(800)}${n},${tIban(n % 4)}\n`).join('')}`;
    const sending = request(`${origin}/check`, { method: 'POST', headers: { 'content-type': 'text/csv' } });
    const responded = once(sending, 'response');
    sending.end(table);
    await once(sending, 'finish');
    const [response] = await responded;
    const received = lines(await text(response)).map((line) => JSON.parse(line));
    expect(received).toHaveLength(rows);
    expect(received.every(({ row }, index) => row === index + 2)).toBe(true);
    expect(received.slice(0, 4).map(({ status }) => status)).toEqual(['VALID', 'VALID', 'VALID', 'NOT_CHECKED']);
    expect(received[3].findings[0].message).toContain('one request may have 3 different IBANs (CHECK_MAX_IBANS)');
  });
});

describe('a request that is refused costs nothing', () => {
  it.each([
    ['without a type, as pages of other origins can send it', { 'content-type': '' }, 415, 'BAD_USER_INPUT'],
    ['with the type of a form', { 'content-type': 'text/plain' }, 415, 'BAD_USER_INPUT'],
    ['that accepts HTML only', { accept: 'text/html' }, 406, 'BAD_USER_INPUT'],
    ['that is compressed', { 'content-encoding': 'gzip' }, 415, 'BAD_USER_INPUT'],
  ])('%s', async (_, headers, status, code) => {
    const { origin, upstream } = await tListeningGateway();
    const reply = await tSend(origin, tTable(2), headers);
    expect([reply.status, codeOf(reply.text)]).toEqual([status, code]);
    expect(upstream.calls).toEqual([]);
  });

  it.each([
    ['no IBANs', 'a,b\n1,2\n', 400],
    ['nothing', '', 400],
    ['more bytes than CHECK_MAX_BYTES', tTable(200), 413],
  ])('with %s', async (_, body, status) => {
    const { origin, upstream } = await tListeningGateway({ CHECK_MAX_BYTES: '4000' });
    const reply = await tSend(origin, body);
    expect([reply.status, codeOf(reply.text)]).toEqual([status, 'BAD_USER_INPUT']);
    expect(upstream.calls).toEqual([]);
  });

  it.each([
    ['by its content', 'application/octet-stream'],
    // cspell:disable-next-line
    ['by its type', 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'],
  ])('with a workbook, which is recognized %s, says what to do', async (_, type) => {
    const { origin, upstream } = await tListeningGateway();
    const reply = await tSend(origin, `PK\x03\x04${'x'.repeat(200_000)}`, { 'content-type': type });
    expect([reply.status, codeOf(reply.text)]).toEqual([415, 'BAD_USER_INPUT']);
    expect(JSON.parse(reply.text).errors[0].message).toMatch(
      /Save the sheet as CSV, or .*ledgerquill check payees.xlsx/,
    );
    expect(upstream.calls).toEqual([]);
  });

  it('of another method, host or origin', async () => {
    const { origin, upstream } = await tListeningGateway({ CORS_ORIGINS: 'https://payments.example' });
    const got = await fetch(`${origin}/check`);
    expect([got.status, got.headers.get('allow')]).toEqual([405, 'POST, OPTIONS']);
    const preflight = (from: string) =>
      fetch(`${origin}/check`, {
        method: 'OPTIONS',
        headers: {
          origin: from,
          'access-control-request-method': 'POST',
          'access-control-request-headers': 'content-type',
        },
      });
    expect((await preflight('https://evil.example')).headers.get('access-control-allow-origin')).toBeNull();
    const allowed = await preflight('https://payments.example');
    expect(allowed.headers.get('access-control-allow-headers')).toBe('content-type');
    expect(upstream.calls).toEqual([]);
  });

  it.each([
    ['100,000 titles and 200 rows', `IBAN${',t'.repeat(50_000)}\n${`${tIban(0)}\n`.repeat(200)}`],
    ['an IBAN in column 900,000', `${','.repeat(900_000)}${tIban(0)}\n`],
    ['a row of 800,000 commas', `IBAN\n${','.repeat(800_000)}\n`],
  ])('with more than 1,000 columns: %s', async (_, body) => {
    const { origin, upstream } = await tListeningGateway();
    for (const accept of ['application/x-ndjson', 'text/csv']) {
      const reply = await tSend(origin, body, { accept });
      expect([reply.status, codeOf(reply.text)]).toEqual([400, 'BAD_USER_INPUT']);
      expect(JSON.parse(reply.text).errors[0].message).toMatch(
        /^The request body, row [12]: more than 1,000 columns, the limit for a table; remove columns/,
      );
    }
    expect(upstream.calls).toEqual([]);
  });

  it('while as many wait as may, and the path does not exist if CHECK_MAX_REQUESTS is 0', async () => {
    const { origin } = await tListeningGateway({ CHECK_MAX_REQUESTS: '1' });
    const first = request(`${origin}/check`, {
      method: 'POST',
      headers: { 'content-type': 'text/csv', expect: '100-continue' },
    });
    first.flushHeaders();
    await once(first, 'continue');
    const sent = [1, 2, 3, 4, 5].map(() => tSend(origin, tTable(1)));
    const refused = await Promise.race(sent);
    expect([refused.status, codeOf(refused.text), refused.headers.get('retry-after')]).toEqual([
      503,
      'OVERLOADED',
      '5',
    ]);
    first.end(tTable(1));
    const [response] = await once(first, 'response');
    expect(lines(await text(response))).toHaveLength(1);
    const statuses = (await Promise.all(sent)).map(({ status }) => status);
    expect(statuses.toSorted()).toEqual([200, 200, 200, 200, 503]);
    const off = await tListeningGateway({ CHECK_MAX_REQUESTS: '0' });
    expect((await tSend(off.origin, tTable(1))).status).toBe(404);
  });
});

describe('callers', () => {
  it('need credentials and the scope bank-data, and have their rate limit and budget', async () => {
    const upstream = await tUpstream(replyWithIban);
    const { origin } = await tCallers({
      callers: { files: 'bank-data', writer: 'essays' },
      env: { CALLER_BANK_DATA_CALLS: '2/day', CALLER_REQUESTS_PER_MINUTE: '3', UPSTREAM_CONCURRENCY: '1' },
      upstream,
    });
    expect((await tSend(origin, tTable(1))).status).toBe(401);
    expect((await tSend(origin, tTable(1), as('writer'))).status).toBe(403);
    const reply = await tSend(origin, tTable(4), as('files'));
    const rows = reply.lines().map((line) => JSON.parse(line));
    expect(rows.map(({ status }) => status)).toEqual(['VALID', 'VALID', 'NOT_CHECKED', 'NOT_CHECKED']);
    expect(rows[2].findings[0].message).toContain('the budget of the caller is used up');
    expect(upstream.calls).toHaveLength(2);
    await tSend(origin, tTable(1), as('files'));
    await tSend(origin, tTable(1), as('files'));
    const limited = await tSend(origin, tTable(1), as('files'));
    expect([limited.status, codeOf(limited.text)]).toEqual([429, 'RATE_LIMITED']);
  });
});

it('serves another caller beside one whose bodies do not end', async () => {
  const { origin } = await tCallers({ callers: { slow: 'bank-data', other: 'bank-data' } });
  const slow = [1, 2].map(() => {
    const headers = { 'content-type': 'text/csv', expect: '100-continue', ...as('slow') };
    const sending = request(`${origin}/check`, { method: 'POST', headers });
    sending.on('error', () => {}).flushHeaders();
    return sending;
  });
  await Promise.race(slow.map((sending) => once(sending, 'continue')));
  expect((await tSend(origin, tTable(3), as('other'))).lines()).toHaveLength(3);
  for (const sending of slow) sending.destroy();
});

it('needs credentials while only trusted documents are executed', async () => {
  const file = join(tFolder(), 'documents.json');
  writeFileSync(file, JSON.stringify({ id: '{ limits { ibans } }' }));
  const env = { TRUSTED_DOCUMENTS: file, ANONYMOUS_SCOPES: 'bank-data' };
  const { origin } = await tCallers({ callers: { files: 'bank-data' }, env });
  const refused = await tSend(origin, tTable(1));
  expect([refused.status, codeOf(refused.text)]).toEqual([403, 'FORBIDDEN']);
  expect((await tSend(origin, tTable(1), as('files'))).status).toBe(200);
});

describe('a check that is not completed', () => {
  it('ends with a line about the error, once rows were sent', async () => {
    const { origin } = await tListeningGateway({ CHECK_MAX_BYTES: '800000' }, await tUpstream(replyWithIban));
    const chunk = `${tIban(1)}\n`.repeat(2_000);
    const sending = request(`${origin}/check`, { method: 'POST', headers: { 'content-type': 'text/csv' } });
    sending.on('error', () => {});
    sending.write(`IBAN\n${chunk.repeat(12)}`);
    const [response] = await once(sending, 'response');
    const received = text(response);
    sending.end(chunk.repeat(12));
    const all = lines(await received);
    expect(JSON.parse(all[0] ?? '')).toMatchObject({ row: 2, status: 'VALID' });
    expect(JSON.parse(all.at(-1) ?? '')).toEqual({
      error: { code: 'BAD_USER_INPUT', message: 'The request body must have at most 800000 bytes (CHECK_MAX_BYTES).' },
    });
  });

  it.each([
    [
      'bytes of the answer',
      'text/csv',
      `IBAN ${'1'.repeat(95)}\n${'x\n'.repeat(199)}`,
      'The answer has more than 80000 b',
    ],
    [
      'bytes of the answer about a payment message',
      'application/xml',
      rightMessage('pain.001.001.09')
        .slice(0, 800)
        .replace(/ *<PmtInf>.*/s, `<PmtInf>${'<CdtTrfTxInf/>'.repeat(200)}</PmtInf>`),
      'The answer has more than 80000 b',
    ],
  ])('because it has more %s than it may ends with a line about the limit', async (_, type, body, message) => {
    const { origin } = await tListeningGateway({ CHECK_MAX_BYTES: '4000' }, await tUpstream(replyWithIban));
    const reply = await tSend(origin, body, { 'content-type': type });
    const last = JSON.parse(reply.lines().at(-1) ?? '');
    expect(last.error?.message ?? last.errors?.[0].message).toContain(message);
    expect(last.error?.message ?? last.errors?.[0].message).toMatch(/send (it|the file) in parts\.$/);
    expect(reply.text.length).toBeLessThan(80_200);
  });

  it('because its client leaves asks nothing more, and a call that was sent is completed', async () => {
    const gate = tGate();
    const upstream = await tUpstream(async (response, call) => {
      await gate.opened;
      return replyWithIban(response, call);
    });
    const { origin, log } = await tListeningGateway({ UPSTREAM_CONCURRENCY: '2' }, upstream);
    const sending = request(`${origin}/check`, { method: 'POST', headers: { 'content-type': 'text/csv' } });
    sending.on('error', () => {});
    sending.end(tTable(50));
    await expect.poll(() => upstream.calls.length).toBe(1);
    sending.destroy();
    await expect.poll(log).toContain('"route":"/check","status":499');
    gate.open();
    expect((await tSend(origin, tTable(1))).lines()).toHaveLength(1);
    expect(upstream.calls).toHaveLength(1);
  });

  it('because its body is cut off is logged, and what was asked is not asked again', async () => {
    const { origin, upstream, log } = await tListeningGateway({}, await tUpstream(replyWithIban));
    const socket = connect(Number(new URL(origin).port), '127.0.0.1');
    await once(socket, 'connect');
    socket.write(
      'POST /check HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/csv\r\nContent-Length: 900\r\n\r\nIBAN\n',
    );
    socket.end(`${tIban(1)}\n`);
    await expect.poll(log).toContain('"route":"/check","status":499');
    expect(upstream.calls).toEqual([]);
  });

  it('because its client sends nothing more is disconnected after CLIENT_TIMEOUT_MS', async () => {
    const { origin, log } = await tListeningGateway({ CLIENT_TIMEOUT_MS: '300' });
    const socket = connect(Number(new URL(origin).port), '127.0.0.1');
    await once(socket, 'connect');
    socket.write(
      'POST /check HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/csv\r\nContent-Length: 900\r\n\r\nIBAN\n',
    );
    socket.resume();
    await once(socket, 'close');
    await expect.poll(log).toContain('"route":"/check","status":499');
  });

  it('at once, such as another XML file, ends when all was received, and its connection is used again', async () => {
    const { origin } = await tListeningGateway();
    const invoice = `<Invoice>${'<Line/>'.repeat(500_000)}</Invoice>`;
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    for (const _ of [1, 2]) {
      const sending = request(`${origin}/check`, {
        method: 'POST',
        agent,
        headers: { 'content-type': 'application/xml' },
      });
      const responded = once(sending, 'response');
      sending.end(invoice);
      const [response] = await responded;
      expect(JSON.parse((await text(response)).split('\n')[0] ?? '')).toMatchObject({ code: 'WRONG_NAMESPACE' });
    }
    agent.destroy();
  });

  it('is not ended by the time limit of a request while its client sends', async () => {
    const { origin } = await tListeningGateway({ CLIENT_TIMEOUT_MS: '300' }, await tUpstream(replyWithIban));
    const sending = request(`${origin}/check`, { method: 'POST', headers: { 'content-type': 'text/csv' } });
    const responded = once(sending, 'response');
    sending.write('IBAN\n');
    const interval = setInterval(() => sending.write(`${tIban(1)}\n`.repeat(50)), 20);
    // Another request with an incomplete body, which began later, shows that the limit has passed.
    const other = connect(Number(new URL(origin).port), '127.0.0.1');
    other.write(
      'POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{',
    );
    expect(await text(other)).toMatch(/^HTTP\/1.1 408 /);
    clearInterval(interval);
    sending.end(`${tIban(2)}\n`);
    const [response] = await responded;
    expect(response.statusCode).toBe(200);
    expect(JSON.parse(lines(await text(response)).at(-1) ?? '')).toMatchObject({ iban: tIban(2), status: 'VALID' });
  });

  it('by a service that fails says so in its rows', async () => {
    const { origin, log } = await tListeningGateway({}, await tUpstream(replyJson(401, { message: 'no' })));
    const reply = await tSend(origin, tTable(2));
    expect(reply.lines().map((line) => JSON.parse(line).status)).toEqual(['NOT_CHECKED', 'NOT_CHECKED']);
    expect(reply.text).toContain('the service rejects the key of the gateway');
    expect(log()).not.toContain(tIban(0));
  });
});

it('is described in OpenAPI', async () => {
  const { origin } = await tListeningGateway();
  const response = await fetch(`${origin}/check/openapi.json`);
  const document = (await response.json()) as { openapi: string; paths: Record<string, { post: object }> };
  expect(document.openapi).toBe('3.1.0');
  expect(Object.keys(document.paths['/check']?.post ?? {})).toContain('requestBody');
});
