import type { Environment } from '../../../../src/base/variables/read-variables.ts';
import type { Upstream } from '../../scripted-upstream.ts';
import { sha256 } from '../callers/identify.ts';
import { type Received, type SendHeaders, tListeningGateway } from './listening-gateway.ts';

/** The two ways of a request through the gateway: a POST is answered directly, a GET by Yoga. */
export const ways = ['directly', 'by Yoga'] as const;
type Way = (typeof ways)[number];

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

export const keyOf = (name: string) => `lq_seeded-key-of-${name}`;
export const as = (name: string) => ({ authorization: `Bearer ${keyOf(name)}` });

/** What an answer contains, without its request ids. */
export function contentOf({ json }: Received) {
  const { data, errors } = json() as { data?: unknown; errors?: { path?: unknown; extensions: { code?: unknown } }[] };
  return { data, errors: errors?.map(({ path, extensions }) => [extensions.code, path]) };
}
