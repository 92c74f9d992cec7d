import {
  type CallToolResult,
  fromJsonSchema,
  type McpServer,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { internalErrorMessage } from '../../base/errors.ts';
import { isObject, readProperty } from '../../base/parse-json.ts';
import { maxLengths } from '../graphql/schema/field-checks.ts';
import { readCapability } from './consent.ts';
import { type Arguments, orderFragment } from './tools.ts';

/* The tasks extension: https://github.com/modelcontextprotocol/ext-tasks. Each task is an essay order, with the same id. */

const extensionName = 'io.modelcontextprotocol/tasks';
export const tasksExtension = { [extensionName]: {} };

const taskMethods = ['tasks/get', 'tasks/update', 'tasks/cancel'];

export function isTaskMethod(method: unknown): boolean {
  return typeof method === 'string' && taskMethods.includes(method);
}

/** Whether the client of this request has the extension. */
export function hasTasks(context: ServerContext): boolean {
  return isObject(readProperty(readCapability(context, 'extensions'), extensionName));
}

/** Executes an operation for the caller of a request. */
export type Execute = (document: string, variables: Arguments) => Promise<CallToolResult>;

/** Answers requests about tasks. */
export function addTaskMethods({ server }: McpServer, execute: Execute): void {
  for (const method of taskMethods) {
    server.setRequestHandler(method, { params: taskParams }, async ({ taskId }, context) => {
      if (!hasTasks(context)) {
        throw new MissingRequiredClientCapabilityError({ requiredCapabilities: { extensions: tasksExtension } });
      }
      const task = toTask(await executeWhole(findTask, taskId));
      if (task === null) throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'No task has this taskId.');
      if (method === 'tasks/cancel') await executeWhole(cancelTask, taskId);
      // A task never asks for input, so an update changes nothing.
      return method === 'tasks/get' ? task : {};
    });
  }

  /** @throws ProtocolError while the store fails: an order that is not cancelled will be paid for */
  async function executeWhole(document: string, id: string): Promise<CallToolResult> {
    const result = await execute(document, { id });
    if (result.isError) throw new ProtocolError(ProtocolErrorCode.InternalError, internalErrorMessage);
    return result;
  }
}

/** The result of an order as a task, unless no order was started, or it has ended. */
export function toStartedTask(result: CallToolResult): CallToolResult {
  const task = toTask(result);
  return task?.status === 'working' ? { ...result, ...task, resultType: 'task' } : result;
}

/** The order in a result as a task; null if there is none. */
function toTask(result: CallToolResult) {
  const order = readProperty(result.structuredContent, 'startEssay');
  const id = readProperty(order, 'id');
  if (typeof id !== 'string') return null;
  const createdAt = String(readProperty(order, 'createdAt'));
  const state = readProperty(order, 'state');
  const essay = readProperty(state, 'essay');
  const lastUpdatedAt = String(readProperty(essay, 'createdAt') ?? createdAt);
  const ttlMs = isObject(essay) ? Date.parse(String(essay.keptUntil)) - Date.parse(createdAt) : null;
  const task = { taskId: id, createdAt, lastUpdatedAt, ttlMs, pollIntervalMs };
  const kind = readProperty(state, '__typename');
  if (kind === 'EssayCancelled') return { ...task, status: 'cancelled' };
  if (kind === 'EssayFinished') return { ...task, status: 'completed', result };
  if (kind === 'EssayFailed') return { ...task, status: 'completed', result: { ...result, isError: true } };
  return { ...task, status: 'working' };
}

/** Some seconds pass until an essay is written. */
const pollIntervalMs = 2_000;

const taskParams = fromJsonSchema<{ taskId: string }>({
  type: 'object',
  properties: { taskId: { type: 'string', maxLength: maxLengths.id } },
  required: ['taskId'],
});

/** With the same result as the tool that started the task. */
const findTask = `query find_essay_task($id: ID!) { startEssay: essayOrder(id: $id) { __typename ...Order } } ${orderFragment}`;

/** The same by the key of an order. */
export const findByHandle = findTask
  .replace('$id: ID!', '$idempotencyKey: ID!')
  .replace('id: $id', 'idempotencyKey: $idempotencyKey');

const cancelTask = 'mutation cancel_essay_task($id: ID!) { cancelEssayOrder(id: $id) { __typename } }';
