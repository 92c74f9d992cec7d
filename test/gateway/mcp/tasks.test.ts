import { describe, expect, it, onTestFinished } from 'vitest';
import { as, mcpHeaders, tCallers } from '../../support/gateway/callers.ts';
import { essaysKey } from '../../support/gateway.ts';
import { tRawClient, tRedis, whyNoRedis } from '../../support/redis.ts';
import { type Reply, replyHeld, replyJson, tUpstream } from '../../support/scripted-upstream.ts';

/*
 * The tasks extension of the edition 2026-07-28, beside what the official suite checks (conformance.test.ts). The client of the SDK has no
 * part for it: it refuses to send `tasks/get`, so that the messages are written here.
 */

const essay = 'Pens hold ink, and they hold it well for a long time. '.repeat(20);
const order = { description: 'Pens and the ink in them', wordCount: 100 };
const extensions = { 'io.modelcontextprotocol/tasks': {} };

interface SendOptions {
  caller?: string;
  /** What the client can do. */
  capabilities?: object;
}

/** A gateway whose essays need no consent, and a client with the extension. */
async function tTasks(reply: Reply, env = {}) {
  const upstream = await tUpstream(reply);
  const service = { ESSAY_URL: upstream.url, ESSAY_API_KEY: essaysKey, MCP_CONSENT: 'never' };
  const callers = { writer: 'essays', other: 'essays', bank: 'bank-data' };
  const { origin } = await tCallers({ callers, env: { ...service, ...env }, upstream });
  const send = async (
    method: string,
    params: { name?: string; taskId?: string; arguments?: object },
    { caller = 'writer', capabilities = { extensions } }: SendOptions = {},
  ) => {
    const protocol = 'io.modelcontextprotocol';
    const _meta = {
      [`${protocol}/protocolVersion`]: '2026-07-28',
      [`${protocol}/clientInfo`]: { name: 'test', version: '1' },
      [`${protocol}/clientCapabilities`]: capabilities,
    };
    const response = await fetch(`${origin}/mcp`, {
      method: 'POST',
      headers: {
        ...mcpHeaders,
        ...(as(caller) as Record<string, string>),
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': method,
        'mcp-name': params.name ?? params.taskId ?? '',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } }),
    });
    const { result, error } = JSON.parse(await response.text());
    return { status: response.status, result, error };
  };
  const start = async (args: object = order, options: SendOptions = {}) =>
    (await send('tools/call', { name: 'order_essay', arguments: args }, options)).result;
  const get = async (taskId: string) => (await send('tasks/get', { taskId })).result;
  return { upstream, send, start, get };
}

/** The same, with a service that answers at the end of the test. */
async function tHeldTasks(env = {}) {
  const { reply, release } = replyHeld(replyJson(200, { essay }));
  const tasks = await tTasks(reply, env);
  // The gateway stops after its orders.
  onTestFinished(release);
  return tasks;
}

describe('an order of a client with the extension', () => {
  it('is a task until the essay is written, with the result that the tool then has', async () => {
    const { upstream, start, get } = await tTasks(replyJson(200, { essay }));
    const started = await start();
    expect(started).toMatchObject({ resultType: 'task', status: 'working', ttlMs: null, pollIntervalMs: 2_000 });
    expect(started.taskId).toBe(started.structuredContent.startEssay.id);
    expect(new Date(started.createdAt).toISOString()).toBe(started.createdAt);
    await expect.poll(async () => (await get(started.taskId)).status, { timeout: 20_000 }).toBe('completed');
    const { result, ...task } = await get(started.taskId);
    expect(task).toMatchObject({ resultType: 'complete', taskId: started.taskId, createdAt: started.createdAt });
    // An essay is kept for 30 days after it was written.
    expect(task.ttlMs).toBeGreaterThanOrEqual(30 * 86_400_000);
    expect(Date.parse(task.lastUpdatedAt)).toBeGreaterThanOrEqual(Date.parse(task.createdAt));
    expect(result.structuredContent.startEssay.state.essay.text).toMatch(/^Pens hold ink/);
    expect(result._meta).toMatchObject({ 'ledgerquill/untrusted': true });
    const again = await start();
    expect(again).toMatchObject({ resultType: 'complete', structuredContent: result.structuredContent });
    expect(upstream.calls).toHaveLength(1);
  });

  it('completes with the failure of the service as the failure of the tool', async () => {
    const { start, get } = await tTasks(replyJson(400, { error: 'no' }));
    const { taskId } = await start();
    await expect.poll(async () => (await get(taskId)).status, { timeout: 20_000 }).toBe('completed');
    const { result } = await get(taskId);
    expect(result).toMatchObject({ isError: true });
    expect(result.structuredContent.startEssay.state.__typename).toBe('EssayFailed');
  });

  it('starts no task if it is refused', async () => {
    const { upstream, start } = await tTasks(replyJson(200, { essay }));
    expect(await start({ ...order, wordCount: 0 })).toMatchObject({ resultType: 'complete', isError: true });
    expect(upstream.calls).toHaveLength(0);
  });

  it('is cancelled before it is sent, and costs nothing', async () => {
    const { upstream, send, start, get } = await tHeldTasks({ ESSAY_ORDERS_RUNNING: '1' });
    const sent = upstream.nextCall();
    await start();
    await sent;
    const { taskId } = await start({ ...order, idempotencyKey: 'second' });
    expect((await send('tasks/update', { taskId })).result).toMatchObject({ resultType: 'complete' });
    expect(await get(taskId)).toMatchObject({ status: 'working' });
    expect((await send('tasks/cancel', { taskId })).result).toMatchObject({ resultType: 'complete' });
    expect(await get(taskId)).toMatchObject({ status: 'cancelled' });
    expect(upstream.calls).toHaveLength(1);
  });
});

it('an order of a client without the extension is its result, and no task', async () => {
  const { start } = await tTasks(replyJson(200, { essay }));
  const result = await start(order, { capabilities: {} });
  expect(result).toMatchObject({
    resultType: 'complete',
    structuredContent: { startEssay: { id: expect.any(String) } },
  });
  expect(result).not.toHaveProperty('taskId');
});

it.skipIf(whyNoRedis !== '')(`does not say that a task is cancelled while the store is full${whyNoRedis}`, async () => {
  const redis = await tRedis();
  const store = { REDIS_URL: redis.url, STORE_SECRET: 'seeded-store-secret-of-32-characters' };
  const { upstream, send, start, get } = await tHeldTasks({ ...store, ESSAY_ORDERS_RUNNING: '1' });
  const sent = upstream.nextCall();
  await start();
  await sent;
  const { taskId } = await start({ ...order, idempotencyKey: 'second' });
  const client = tRawClient(redis);
  await client.config('SET', 'maxmemory', '1');
  onTestFinished(async () => void (await client.config('SET', 'maxmemory', '0')));
  const { error } = await send('tasks/cancel', { taskId });
  expect([error?.code, (await get(taskId)).status]).toEqual([-32_603, 'working']);
});

describe.each(['tasks/get', 'tasks/update', 'tasks/cancel'])('%s', (method) => {
  it('knows only the orders of its caller, who needs the scope of essays', async () => {
    const { send, start, get } = await tHeldTasks();
    const { taskId } = await start();
    const unknown = { code: -32_602, message: 'No task has this taskId.' };
    expect((await send(method, { taskId }, { caller: 'other' })).error).toMatchObject(unknown);
    expect((await send(method, { taskId: 'unknown' })).error).toMatchObject(unknown);
    expect((await send(method, { taskId: 'x'.repeat(201) })).error.code).toBe(-32_602);
    expect((await send(method, { taskId }, { caller: 'bank' })).status).toBe(403);
    expect((await get(taskId)).status).toBe('working');
  });
});
