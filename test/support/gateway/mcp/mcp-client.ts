import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { onTestFinished } from 'vitest';
import { keyOf } from '../callers.ts';

interface McpClientOptions {
  /** The name of its caller; without it, anonymous. */
  caller?: string;
  /** Its API key or token, in place of the key of that caller. */
  key?: string;
  edition?: '2026-07-28' | '2025-11-25';
  /** What its user answers to each question; without it, the client cannot ask. */
  answer?: ((question: string) => boolean) | undefined;
}

/** The client of the official SDK. */
export async function tMcpClient(
  origin: string,
  { caller, key, edition = '2026-07-28', answer }: McpClientOptions = {},
) {
  const versionNegotiation = edition === '2026-07-28' ? { mode: 'auto' as const } : { mode: 'legacy' as const };
  const capabilities = answer ? { elicitation: { form: {} } } : {};
  const client = new Client({ name: 'test', version: '1.0.0' }, { capabilities, versionNegotiation });
  const questions: string[] = [];
  if (answer) {
    client.setRequestHandler('elicitation/create', ({ params: { message } }) => {
      questions.push(message);
      return { action: 'accept', content: { agree: answer(message) } };
    });
  }
  const bearer = key ?? (caller === undefined ? undefined : keyOf(caller));
  const requestInit = bearer === undefined ? {} : { headers: { authorization: `Bearer ${bearer}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${origin}/mcp`), { requestInit }));
  onTestFinished(() => client.close());
  return {
    client,
    /** What its user was asked. */
    questions,
    async call(name: string, args: Record<string, unknown>) {
      const { content, structuredContent, quote, isError = false } = await client.callTool({ name, arguments: args });
      const text = content.map((part) => (part.type === 'text' ? part.text : '')).join('\n');
      return { text, data: structuredContent as Record<string, unknown> | undefined, isError, quote };
    },
  };
}
