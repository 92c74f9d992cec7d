import { fromJsonSchema, McpServer } from '@modelcontextprotocol/server';

/** A server with the tools that the official conformance suite calls, for requests that a gateway has accepted. */
export function createDiagnosticServer(): McpServer {
  const server = new McpServer(
    { name: 'diagnostic', version: '1.0.0' },
    { capabilities: { tools: { listChanged: false }, logging: {} } },
  );
  for (const [name, content] of Object.entries(contents)) {
    server.registerTool(name, { description: 'Returns content of one kind.' }, () => ({ content }));
  }
  server.registerTool('test_error_handling', { description: 'Fails.' }, () => {
    throw new Error('This tool always fails.');
  });
  server.registerTool(
    'json_schema_2020_12_tool',
    { description: 'Has keywords of JSON Schema 2020-12.', inputSchema: fromJsonSchema(schema) },
    () => ({ content: [text] }),
  );
  server.registerTool('test_tool_with_logging', { description: 'Sends log messages.' }, async (context) => {
    for (const data of ['begins', 'continues', 'ends']) await context.mcpReq.log('info', data);
    return { content: [text] };
  });
  server.registerTool('test_tool_with_progress', { description: 'Reports progress.' }, async (context) => {
    const progressToken = context.mcpReq._meta?.progressToken;
    if (progressToken === undefined) return { content: [text], isError: true };
    for (const progress of [0, 50, 100]) {
      const params = { progressToken, progress, total: 100 };
      await context.mcpReq.notify({ method: 'notifications/progress', params });
    }
    return { content: [text] };
  });
  return server;
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

const schema = {
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
};
