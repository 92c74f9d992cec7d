import { expect, it } from 'vitest';
import { runCommand } from '../support/command.ts';
import { tChatServer } from '../support/essay-service/service.ts';
import { tHttpServer } from '../support/loopback.ts';
import { tCommand } from '../support/process.ts';

const bankDataEnv = { BANK_DATA_API_KEY: 'right-key' };
const essayEnv = { ESSAY_API_KEY: 'right-key' };
const lookUp = '/bank_data/iban_validate?iban_number=DE89370400440532013000';

async function order(url: string | undefined, token: string): Promise<Response> {
  const headers = { token, 'content-type': 'application/json' };
  const body = JSON.stringify({ description: 'bees', mode: 'Standard', word_count: 50 });
  return fetch(`${url}/v2/generate/essay/`, { method: 'POST', headers, body });
}

it('the bank-data service serves until SIGTERM, and prints only its address', async () => {
  const service = tCommand(['bank-data-service', '--port', '0'], bankDataEnv);
  const [line, url] = await service.printed(/^The bank-data service listens on (http:\/\/127\.0\.0\.1:\d+)\n$/);
  const answer = await fetch(url + lookUp, { headers: { apikey: 'right-key' } });
  expect(await answer.json()).toMatchObject({ valid: true });
  service.kill('SIGTERM');
  expect(await service.ended).toEqual({ code: 0, signal: null });
  expect(service.stdout() + service.stderr()).toBe(line);
});

it('the essay service serves until SIGINT, writes with the configured language model, and prints neither key', async () => {
  const essay = 'Bees fly, and they sleep. '.repeat(4).trim();
  const stream = { kind: 'stream', pieces: [essay] } as const;
  const model = await tChatServer(stream, { kind: 'status', status: 401, body: 'no' });
  const llm = { LLM_URL: model.url, LLM_MODEL: 'llama', LLM_API_KEY: 'model-key' };
  const service = tCommand(['essay-service', '--port', '0'], { ...essayEnv, ...llm });
  const [, url] = await service.printed(/listens on (\S+)\nIt writes with the language model llama\.\n$/);
  expect(await (await order(url, 'right-key')).json()).toEqual({ essay, word_count: 20, writer: 'model' });
  expect((await order(url, 'wrong-key')).status).toBe(401);
  expect((await order(url, 'right-key')).status).toBe(500);
  service.kill('SIGINT');
  expect(await service.ended).toEqual({ code: 0, signal: null });
  expect(service.stderr()).toContain('responded with status 401');
  expect(service.stdout() + service.stderr()).not.toMatch(/right-key|model-key/);
});

it.each([
  ['bank-data-service', { HOST: 'a b' }, /HOST: must be an IP address.*BANK_DATA_API_KEY: missing/s],
  ['essay-service', { LLM_URL: 'http://127.0.0.1:1/v1' }, /ESSAY_API_KEY: missing/],
])('%s describes what its configuration lacks', async (command, env, problems) => {
  const { code, stdout, stderr } = await runCommand([command], { ...env });
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(problems);
  expect(stderr).not.toMatch(/^\s+at /m);
});

it('a service refuses a port that is not one', async () => {
  const { code, stderr } = await runCommand(['essay-service', '--port', 'many'], essayEnv);
  expect([code, stderr]).toEqual([2, expect.stringContaining('It must be a whole number from 0 to 65535.')]);
});

it('a service reports that its port is in use', async () => {
  const { port } = new URL((await tHttpServer(() => {})).url);
  const problem = 'another process listens there already; set --port to a free port.';
  expect(await runCommand(['bank-data-service', '--port', port], bankDataEnv)).toEqual({
    code: 1,
    stdout: '',
    stderr: `Cannot listen on 127.0.0.1, port ${port}: ${problem}\n`,
  });
});
