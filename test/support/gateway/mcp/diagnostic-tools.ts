import { completable, fromJsonSchema, type McpServer, ResourceTemplate } from '@modelcontextprotocol/server';
import * as z from 'zod';
import type { McpEndpointOptions } from '../../../../src/gateway/mcp/mcp-endpoint.ts';
import { addAskingTools } from './diagnostic-questions.ts';
import { addTaskTools } from './diagnostic-tasks.ts';

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
