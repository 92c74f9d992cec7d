import { randomUUID } from 'node:crypto';
import { inputResponse, type McpServer, type ServerContext } from '@modelcontextprotocol/server';
import * as z from 'zod';
import { type Execute, hasTasks, toStartedTask } from '../../../../src/gateway/mcp/tasks.ts';
import { orderFragment } from '../../../../src/gateway/mcp/tools.ts';
import { type Reply, replyJson } from '../../scripted-upstream.ts';
import { ask } from './diagnostic-questions.ts';

/** Adds tools whose tasks are essay orders, as those of the gateway are. */
export function addTaskTools(server: McpServer, execute: Execute): void {
  const description = 'Orders an essay.';
  const start = async (essay: string, context: ServerContext) => {
    const result = await execute(startEssay, { description: essay, idempotencyKey: randomUUID() });
    return hasTasks(context) ? toStartedTask(result) : result;
  };
  const greet = z.object({ name: z.string() });
  server.registerTool('greet', { description: 'Greets.', inputSchema: greet }, ({ name }) => ({
    content: [{ type: 'text', text: `Hello, ${name}!` }],
  }));
  const slow = z.object({ seconds: z.number(), label: z.string() });
  server.registerTool('slow_compute', { description, inputSchema: slow }, ({ seconds, label }, context) =>
    start(`${label}, for ${seconds} seconds`, context),
  );
  server.registerTool('failing_job', { description }, (context) => start('An order that fails', context));
  // A user is asked before the task begins.
  server.registerTool(
    'confirm_delete',
    { description },
    async (context) => (await ask(['confirm'], context)) ?? start('An order that was confirmed', context),
  );
  server.registerTool('test_tool_with_task', { description }, async (context) => {
    const answer = inputResponse(context.mcpReq.inputResponses, 'user_name');
    const name = answer.kind === 'elicit' ? answer.content?.name : undefined;
    return (await ask(['user_name'], context)) ?? start(`An order of ${String(name)}`, context);
  });
}

/** The essay service for these orders: an order for a minute ends when it is cancelled, others at once. */
export const replyToDiagnosticOrder: Reply = (response, call) => {
  if (call.body.includes('for 60 seconds')) return call.aborted;
  const isFailing = call.body.includes('that fails');
  return replyJson(isFailing ? 400 : 200, { essay: `${call.body} `.repeat(20) })(response, call);
};

const startEssay = `mutation start_diagnostic_order($description: String!, $idempotencyKey: ID!) {
  startEssay(input: { description: $description, wordCount: 100, idempotencyKey: $idempotencyKey }) { __typename ...Order }
} ${orderFragment}`;
