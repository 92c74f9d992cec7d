import { expect, it } from 'vitest';
import { runCommand } from '../support/command.ts';
import { tFolder } from '../support/gateway/stores/folder.ts';
import { type Reply, replyJson, replyText, tUpstream } from '../support/scripted-upstream.ts';

const text =
  'Fountain pens hold ink in a reservoir, and a feed brings it to the nib. A pen that fits its hand is used for many years.';
const key = 'seeded-essay-key';

async function tTry(
  reply: Reply,
  { args = ['--yes'], env = {} }: { args?: string[]; env?: Record<string, string> } = {},
) {
  const upstream = await tUpstream(reply);
  const result = await runCommand(['try-essay', ...args], { ESSAY_URL: upstream.url, ESSAY_API_KEY: key, ...env });
  return { ...result, calls: upstream.calls };
}

const chat = { choices: [{ message: { role: 'assistant', content: text } }], ids: [1, 2, 3, 4, 5], echo: `key ${key}` };

it('orders one essay, and prints the paths of the response and the line for the configuration', async () => {
  const { code, stdout, stderr, calls } = await tTry(replyJson(200, chat), {
    args: ['--yes', 'The fountain pen', '--words', '30'],
  });
  expect([code, stderr]).toEqual([0, '']);
  expect(calls.map(({ body }) => JSON.parse(body))).toEqual([
    { description: 'The fountain pen', mode: 'Standard', word_count: 30 },
  ]);
  expect(stdout).toContain('choices[0].message.content  "Fountain pens hold ink');
  expect(stdout).toContain('  ids[2]  3\n  ids  and 2 more values\n');
  expect(stdout).toContain('The essay: choices[0].message.content, 26 words\n');
  expect(stdout).toMatch(/^ESSAY_TEXT_FIELD=choices\[0\]\.message\.content$/m);
  expect(stdout).toContain('echo  "key [hidden]"');
  expect(stdout).not.toContain(key);
});

it('writes the call to the audit trail', async () => {
  const env = { DATA_DIR: tFolder(), ESSAY_PRICE: '0.5 EUR' };
  await tTry(replyJson(200, chat), { env });
  await tTry(replyJson(500, {}), { env });
  const { stdout } = await runCommand(['audit', 'sum', '--by', 'caller,service'], env);
  expect(stdout).toMatch(/^cli:try-essay,essays,2,1,1,0,0,1.00,0.50,EUR$/m);
});

it('reads a declared field, and exits with 1 if it has no text', async () => {
  const env = { ESSAY_TEXT_FIELD: 'choices[0].message.content' };
  const { code, stdout } = await tTry(replyJson(200, chat), { env });
  expect([code, stdout.includes('as ESSAY_TEXT_FIELD declares it')]).toEqual([0, true]);
  expect(await tTry(replyJson(200, { choices: [] }), { env })).toMatchObject({ code: 1 });
});

it.each<[string, Reply, string]>([
  ['an unknown field with a message', replyJson(200, { a: { b: 'It is done.' } }), '  a.b  "It is done."\n'],
  ['lines of JSON', replyText(200, '{"x":"It "}\n{"x":"is."}'), '  x  "It "\n  x  "is."\n'],
  ['a plain text', replyText(200, 'It is done.'), '  $  "It is done."\n'],
  ['a failure', replyJson(401, { detail: 'Who are you?' }), '  detail  "Who are you?"\n'],
])('prints the values of a response without an essay: %s', async (_, reply, lines) => {
  const { code, stdout } = await tTry(reply);
  expect(code).toBe(1);
  expect(stdout).toContain(lines);
  expect(stdout).toContain('No essay: The essay service ');
});

it.each([
  ['without consent', [], {}, 2, '--yes must confirm'],
  [
    'with a wrong number of words',
    ['--yes', '--words', '0'],
    {},
    2,
    '--words must be a whole number from 1 to 2000, but is "0"',
  ],
  ['without a service', ['--yes'], { ESSAY_URL: '', ESSAY_API_KEY: '' }, 1, 'ESSAY_URL: must be set'],
])('orders nothing %s', async (_, args, env, exitCode, message) => {
  const { code, stderr, calls } = await tTry(replyJson(200, chat), { args, env });
  expect([code, calls]).toEqual([exitCode, []]);
  expect(stderr).toContain(message);
});
