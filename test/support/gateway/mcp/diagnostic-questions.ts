import { randomUUID } from 'node:crypto';
import {
  CLIENT_CAPABILITIES_META_KEY,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  type McpServer,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { readProperty } from '../../../../src/base/parse-json.ts';
import { createCodec } from '../../../../src/gateway/mcp/consent.ts';

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
export function addAskingTools(server: McpServer): void {
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
export async function ask(keys: readonly Key[], context: ServerContext): Promise<InputRequiredResult | null> {
  const open = keys.filter((key) => !isAnswered(key, context));
  if (open.length === 0) return null;
  const inputRequests = Object.fromEntries(open.map((key) => [key, questions[key]]));
  const seal = { id: randomUUID(), kind: 'asked' as const, digest: open.join() };
  const requestState = await createCodec(stateSecret).mint(seal);
  return inputRequired({ inputRequests, requestState });
}

function isAnswered(key: Key, { mcpReq: { inputResponses } }: ServerContext): boolean {
  return inputResponse(inputResponses, key).kind !== 'missing';
}

function elicit(message: string, name: string) {
  const properties = { [name]: { type: 'string' as const } };
  return inputRequired.elicit({ message, requestedSchema: { type: 'object', properties, required: [name] } });
}
