import { createHmac, randomUUID } from 'node:crypto';
import {
  CLIENT_CAPABILITIES_META_KEY,
  completable,
  createRequestStateCodec,
  fromJsonSchema,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  type McpServer,
  ResourceTemplate,
  type ServerContext,
} from '@modelcontextprotocol/server';
import * as z from 'zod';
import { readProperty } from '../../../../src/base/parse-json.ts';
import type { McpEndpointOptions } from '../../../../src/gateway/mcp/mcp-endpoint.ts';
import { type Execute, hasTasks, toStartedTask } from '../../../../src/gateway/mcp/tasks.ts';
import { orderFragment } from '../../../../src/gateway/mcp/tools.ts';
import { type Reply, replyJson } from '../../scripted-upstream.ts';

/** Adds what the official conformance suite calls to the server of a request: its tools, prompts and resources. */
export const addDiagnosticTools: NonNullable<McpEndpointOptions['addTools']> = (server, execute) => {
  const unchanging = { listChanged: false };
  server.server.registerCapabilities({ logging: {}, prompts: unchanging, resources: unchanging });
  addContentTools(server);
  addPrompts(server);
  addResources(server);
  addAskingTools(server);
  addTaskTools(server, execute);
};

function addContentTools(server: McpServer): void {
  for (const [name, content] of Object.entries(contents)) {
    server.registerTool(name, { description: 'Returns content of one kind.' }, () => ({ content }));
  }
  server.registerTool('test_error_handling', { description: 'Fails.' }, () => {
    throw new Error('This tool always fails.');
  });
  for (const [name, schema] of Object.entries(schemas)) {
    const inputSchema = fromJsonSchema(schema);
    server.registerTool(name, { description: 'Has a schema of its own.', inputSchema }, () => ({ content: [text] }));
  }
  for (const name of ['test_tool_with_logging', 'test_logging_tool']) {
    server.registerTool(name, { description: 'Sends log messages.' }, async (context) => {
      for (const message of ['begins', 'continues', 'ends']) await context.mcpReq.log('info', message);
      return { content: [text] };
    });
  }
  server.registerTool('test_tool_with_progress', { description: 'Reports progress.' }, async (context) => {
    const progressToken = context.mcpReq._meta?.progressToken;
    if (progressToken === undefined) return { content: [text], isError: true };
    for (const progress of [0, 50, 100]) {
      const params = { progressToken, progress, total: 100 };
      await context.mcpReq.notify({ method: 'notifications/progress', params });
    }
    return { content: [text] };
  });
}

function addPrompts(server: McpServer): void {
  const prompt = (...parts: (typeof text | typeof image | typeof resource)[]) => ({
    messages: parts.map((content) => ({ role: 'user' as const, content })),
  });
  server.registerPrompt('test_simple_prompt', { description: 'Has no arguments.' }, () => prompt(text));
  server.registerPrompt('test_prompt_with_image', { description: 'Has an image.' }, () => prompt(image, text));
  const two = z.object({ arg1: completable(z.string(), (value) => [`${value}ing`]), arg2: z.string() });
  server.registerPrompt(
    'test_prompt_with_arguments',
    { description: 'Has two arguments.', argsSchema: two },
    ({ arg1, arg2 }) => prompt({ ...text, text: `${arg1} and ${arg2}` }),
  );
  server.registerPrompt(
    'test_prompt_with_embedded_resource',
    { description: 'Has a resource.', argsSchema: z.object({ resourceUri: z.string() }) },
    ({ resourceUri }) => prompt({ ...resource, resource: { ...resource.resource, uri: resourceUri } }, text),
  );
}

function addResources(server: McpServer): void {
  const plain = { mimeType: 'text/plain' };
  server.registerResource('text', 'test://static-text', plain, ({ href: uri }) => ({
    contents: [{ uri, ...plain, text: 'A text.' }],
  }));
  const { mimeType, data: blob } = image;
  server.registerResource('image', 'test://static-binary', { mimeType }, ({ href: uri }) => ({
    contents: [{ uri, mimeType, blob }],
  }));
  const template = new ResourceTemplate('test://template/{id}/data', { list: undefined });
  server.registerResource('template', template, plain, ({ href: uri }, { id }) => ({
    contents: [{ uri, ...plain, text: `The data of ${String(id)}.` }],
  }));
}

const text = { type: 'text' as const, text: 'A text.' };
const data = Buffer.from('seeded bytes').toString('base64');
const image = { type: 'image' as const, data, mimeType: 'image/png' };
const resource = {
  type: 'resource' as const,
  resource: { uri: 'test://resource', mimeType: 'text/plain', text: 'A text.' },
};

const contents = {
  test_simple_text: [text],
  test_image_content: [image],
  test_audio_content: [{ type: 'audio' as const, data, mimeType: 'audio/wav' }],
  test_embedded_resource: [resource],
  test_multiple_content_types: [text, image, resource],
};

const schemas = {
  /** Keywords of JSON Schema 2020-12. */
  json_schema_2020_12_tool: {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object' as const,
    $defs: {
      address: {
        $anchor: 'addressDef',
        type: 'object',
        properties: { street: { type: 'string' }, city: { type: 'string' } },
      },
    },
    properties: { name: { type: 'string' }, address: { $ref: '#/$defs/address' }, contact: { type: 'string' } },
    allOf: [{ anyOf: [{ required: ['name'] }, { required: ['contact'] }] }],
    if: { required: ['contact'] },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { required: ['name'] },
    else: {},
    additionalProperties: false,
  },
  /** An argument that clients also send in a header. */
  test_header_argument: {
    type: 'object' as const,
    properties: { region: { type: 'string', 'x-mcp-header': 'Region' } },
  },
};

/** With it, a gateway accepts the states of the questions below. */
export const stateSecret = 'seeded-store-secret-of-32-characters';

const questions = {
  user_name: elicit('What is your name?', 'name'),
  user_context: elicit('In which context?', 'context'),
  confirm: elicit('Is it right?', 'ok'),
  step1: elicit('What is your name?', 'name'),
  step2: elicit('Which color do you like?', 'color'),
  greeting: inputRequired.createMessage({
    messages: [{ role: 'user', content: { type: 'text', text: 'Write a greeting.' } }],
    maxTokens: 50,
  }),
  client_roots: inputRequired.listRoots(),
};

type Key = keyof typeof questions;

/** What each tool asks at once. */
const asked: Record<string, Key[]> = {
  test_input_required_result_elicitation: ['user_name'],
  test_input_required_result_sampling: ['greeting'],
  test_input_required_result_list_roots: ['client_roots'],
  test_input_required_result_multiple_inputs: ['user_name', 'greeting', 'client_roots'],
  test_input_required_result_request_state: ['confirm'],
  test_input_required_result_tampered_state: ['confirm'],
  test_streaming_elicitation: ['user_name'],
  test_missing_capability: ['greeting'],
};

/** Adds the tools and the prompt that ask the client. */
function addAskingTools(server: McpServer): void {
  const description = 'Asks the client.';
  const text = { type: 'text' as const, text: 'The answers have arrived.' };
  const addTool = (name: string, choose: (context: ServerContext) => Key[]) =>
    server.registerTool(
      name,
      { description },
      async (context) => (await ask(choose(context), context)) ?? { content: [text] },
    );
  for (const [name, keys] of Object.entries(asked)) addTool(name, () => keys);
  addTool('test_input_required_result_multi_round', (context) =>
    isAnswered('step1', context) || isAnswered('step2', context) ? ['step2'] : ['step1'],
  );
  addTool('test_input_required_result_capabilities', ({ mcpReq: { envelope } }) => {
    const declared = readProperty(envelope, CLIENT_CAPABILITIES_META_KEY);
    const keys = { elicitation: 'user_name', sampling: 'greeting' } as const;
    return Object.entries(keys).flatMap(([name, key]) => (readProperty(declared, name) ? [key] : []));
  });
  server.registerPrompt(
    'test_input_required_result_prompt',
    { description },
    async (context) =>
      (await ask(['user_context'], context)) ?? { messages: [{ role: 'user' as const, content: text }] },
  );
}

/** The questions that are not answered, with a state as the gateway seals it; null: all are. */
async function ask(keys: readonly Key[], context: ServerContext): Promise<InputRequiredResult | null> {
  const open = keys.filter((key) => !isAnswered(key, context));
  if (open.length === 0) return null;
  const inputRequests = Object.fromEntries(open.map((key) => [key, questions[key]]));
  const seal = { id: randomUUID(), kind: 'asked' as const, digest: open.join(), calls: 0 };
  const key = createHmac('sha256', stateSecret).update('consent of agents').digest();
  const requestState = await createRequestStateCodec({ key, ttlSeconds: 600 }).mint(seal);
  return inputRequired({ inputRequests, requestState });
}

function isAnswered(key: Key, { mcpReq: { inputResponses } }: ServerContext): boolean {
  return inputResponse(inputResponses, key).kind !== 'missing';
}

function elicit(message: string, name: string) {
  const properties = { [name]: { type: 'string' as const } };
  return inputRequired.elicit({ message, requestedSchema: { type: 'object', properties, required: [name] } });
}

/** Adds tools whose tasks are essay orders, as those of the gateway are. */
function addTaskTools(server: McpServer, execute: Execute): void {
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
