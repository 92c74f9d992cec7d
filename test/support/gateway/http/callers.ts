import type { Environment } from '../../../../src/base/variables/read-variables.ts';
import type { Upstream } from '../../scripted-upstream.ts';
import { sha256 } from '../callers/identify.ts';
import { type Received, type SendHeaders, tListeningGateway, tSend } from './listening-gateway.ts';

/** The two ways of a request through the gateway: a POST is answered directly, a GET by Yoga. */
export const ways = ['directly', 'by Yoga'] as const;
/** And the same look-up as the tool of an agent: what is refused to GraphQL is refused to it. */
export const waysAndTool = [...ways, 'by a tool'] as const;
type Way = (typeof waysAndTool)[number];
/** The paths of these ways. */
export const paths = ['/graphql', '/mcp'] as const;

interface Question {
  query?: string;
  documentId?: string;
  variables?: object;
  extensions?: object;
}

interface TCallersOptions {
  /** Scopes, separated by +, by the name of their caller. */
  callers?: Record<string, string>;
  env?: Environment;
  upstream?: Upstream;
}

/** A gateway that listens, with an API key for each of these callers. */
export async function tCallers({ callers = {}, env = {}, upstream }: TCallersOptions) {
  const entries = Object.entries(callers).map(([name, scopes]) => `${name}:${sha256(keyOf(name))}:${scopes}`);
  const gateway = await tListeningGateway({ GATEWAY_API_KEYS: entries.join(), ...env }, upstream);
  return {
    ...gateway,
    send(
      way: Way,
      { query, documentId, variables, extensions }: Question,
      headers: SendHeaders = {},
    ): Promise<Received> {
      if (way === 'by a tool') return callTool(`${gateway.origin}/mcp`, query ?? '', headers);
      if (way === 'directly') return gateway.post({ query, documentId, variables, extensions }, headers);
      return gateway.get(
        {
          ...(query !== undefined && { query }),
          ...(documentId !== undefined && { documentId }),
          ...(variables && { variables: JSON.stringify(variables) }),
          ...(extensions && { extensions: JSON.stringify(extensions) }),
        },
        headers,
      );
    },
  };
}

/** Calls `check_iban` with the IBAN of a query for `valid`. @returns the answer as GraphQL would send it */
async function callTool(url: string, query: string, headers: SendHeaders): Promise<Received> {
  const [, iban] = /^\{ ibanValidation\(iban: "(\w+)"\) \{ valid \} \}$/.exec(query) ?? [];
  if (iban === undefined) throw new Error(`The query must be for the validity of one IBAN, not ${query}`);
  const params = { name: 'check_iban', arguments: { iban } };
  const received = await tSend(url, {
    method: 'POST',
    headers: { ...mcpHeaders, ...headers },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
  });
  return { ...received, json: () => toGraphql(received) };
}

export const mcpHeaders = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
  'mcp-protocol-version': '2025-11-25',
};

function toGraphql({ body, headers }: Received): ReturnType<Received['json']> {
  const isEvents = headers['content-type']?.startsWith('text/event-stream') === true;
  const message = JSON.parse(isEvents ? (/^data: (.*)$/m.exec(body.toString())?.[1] ?? '') : body.toString());
  if (message.result === undefined) return message;
  const [, text] = /^.*\n(.*)$/.exec(message.result.content[0].text) ?? [];
  const { data, errors, ibanValidation = data?.ibanValidation } = JSON.parse(text ?? '{}');
  // The tool requests the bank, too.
  const ofValid = errors?.filter(({ path }: { path: string[] }) => path.includes('valid'));
  return { data: { ibanValidation: { valid: ibanValidation.valid } }, ...(ofValid && { errors: ofValid }) };
}

export const keyOf = (name: string) => `lq_seeded-key-of-${name}`;
export const as = (name: string) => ({ authorization: `Bearer ${keyOf(name)}` });

/** What an answer contains, without its request ids. */
export function contentOf({ json }: Received) {
  const { data, errors } = json() as { data?: unknown; errors?: { path?: unknown; extensions: { code?: unknown } }[] };
  return { data, errors: errors?.map(({ path, extensions }) => [extensions.code, path]) };
}
