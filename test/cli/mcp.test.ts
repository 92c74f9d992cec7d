import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { bridge } from '../../src/cli/mcp.ts';
import { tIban } from '../support/e2e/iban.ts';
import { keyOf, tCallers } from '../support/gateway/http/callers.ts';
import { replyWithIban, tUpstream } from '../support/scripted-upstream.ts';

/* The protocol on standard input and output, for a gateway over HTTP. */

async function tSession(url: string, key: string | undefined, messages: readonly (object | string)[]) {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const received = text(output);
  input.end(messages.map((message) => `${typeof message === 'string' ? message : JSON.stringify(message)}\n`).join(''));
  await bridge({ url, ...(key && { key }), input, output });
  output.end();
  const lines = (await received).split('\n').filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line));
}

const initialize = {
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
};
const call = (name: string, args: object) => ({
  jsonrpc: '2.0',
  id: name,
  method: 'tools/call',
  params: { name, arguments: args },
});

it('answers each line with a line, and a notification with none', async () => {
  const env = { MCP_CONSENT: 'never' };
  const { origin } = await tCallers({ callers: { shop: 'bank-data' }, env, upstream: await tUpstream(replyWithIban) });
  const initialized = { jsonrpc: '2.0', method: 'notifications/initialized' };
  const check = call('check_iban', { iban: tIban(1) });
  const replies = await tSession(origin, keyOf('shop'), [initialize, initialized, check, '{']);
  const byId = new Map(replies.map((reply) => [reply.id, reply]));
  expect(replies).toHaveLength(3);
  expect(byId.get(0).result.protocolVersion).toBe('2025-11-25');
  expect(byId.get('check_iban').result.structuredContent.ibanValidation.valid).toBe(true);
  expect(byId.get(null).error.code).toBe(-32_700);
});

it('sends the id of a task in the header that the newer edition requires', async () => {
  const { origin } = await tCallers({ callers: { writer: 'essays' } });
  const protocol = 'io.modelcontextprotocol';
  const _meta = {
    [`${protocol}/protocolVersion`]: '2026-07-28',
    [`${protocol}/clientInfo`]: { name: 'test', version: '1' },
    [`${protocol}/clientCapabilities`]: { extensions: { [`${protocol}/tasks`]: {} } },
  };
  const get = { jsonrpc: '2.0', id: 1, method: 'tasks/get', params: { taskId: 'unknown', _meta } };
  const [reply] = await tSession(origin, keyOf('writer'), [get]);
  expect(reply.error).toEqual({ code: -32_602, message: 'No task has this taskId.' });
});

it('describes refusals of the gateway, and a gateway that cannot be reached', async () => {
  const { origin, close } = await tCallers({ callers: { shop: 'bank-data' } });
  const [refused] = await tSession(origin, 'wrong', [initialize]);
  expect(refused.error).toEqual({ code: -32_000, message: 'The credentials are not valid.' });
  await close();
  const [unreached] = await tSession(origin, undefined, [initialize]);
  expect(unreached.error.message).toBe(`The gateway at ${origin} cannot be reached: ECONNREFUSED.`);
});
