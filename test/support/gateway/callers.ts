import { createHash, createHmac, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { CompactSign, type JWTHeaderParameters, type JWTPayload, SignJWT, UnsecuredJWT } from 'jose';
import { onTestFinished } from 'vitest';
import { AbortableSignal, type Signal } from '../../../src/base/async/signal.ts';
import type { Environment } from '../../../src/base/variables/read-variables.ts';
import { type Access, createAccess } from '../../../src/gateway/callers/access.ts';
import type { Caller } from '../../../src/gateway/callers/caller.ts';
import { readConfig } from '../../../src/gateway/config/read-config.ts';
import { createRequestContext, type RequestContext } from '../../../src/gateway/request-context.ts';
import type { Events } from '../../../src/gateway/telemetry/events.ts';
import type { Upstream } from '../scripted-upstream.ts';
import { type Received, type SendHeaders, tListeningGateway, tSend } from './http/listening-gateway.ts';
import { createMemoryStore } from './stores/memory-store.ts';

export const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

/** Identifies callers as these variables configure it, with a list of its events. */
export function tIdentify(env: Environment) {
  const events: unknown[] = [];
  const recording = new Proxy({} as Events, {
    get:
      (_, name) =>
      (...args: unknown[]) =>
        void events.push([name, ...args]),
  });
  const { access, store } = readConfig(env);
  const storeConfig = { ...store, secret: null };
  const callers = createAccess({ access, storeConfig, store: createMemoryStore(), replicas: null, events: recording });
  onTestFinished(callers.close);
  return {
    ...callers,
    events,
    /** The id of the caller with this token, or the status of the refusal, with its time to wait if it has one. */
    async callerOf(token: string) {
      const caller = await callers.identifyAndCount(['Authorization', `Bearer ${token}`]);
      if (caller.kind !== 'refused') return 'id' in caller ? caller.id : caller.kind;
      const { status, headers } = caller;
      return 'retry-after' in headers ? `${status}, retry after ${headers['retry-after']} s` : status;
    },
  };
}

const claims = { iss: 'https://issuer.example', aud: 'ledgerquill' };
/** The configuration of the tokens. */
export const jwt = { JWT_ISSUER: claims.iss, JWT_AUDIENCE: claims.aud };
export const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });
export const otherEc = generateKeyPairSync('ec', { namedCurve: 'P-256' });
export const rsa = generateKeyPairSync('rsa', { modulusLength: 2_048 });
export const pemOf = (key: KeyObject) => key.export({ type: 'spki', format: 'pem' }).toString();
export const jwkOf = (key: KeyObject, kid: string) => ({ ...key.export({ format: 'jwk' }), kid, use: 'sig' });

export interface Token extends JWTPayload {
  header?: Partial<JWTHeaderParameters>;
  key?: KeyObject;
  /** Null: without the claim. */
  expiresAt?: string | null;
}

/** A valid token, unless its options differ. */
export function tToken({
  header = {},
  key = ec.privateKey,
  expiresAt = '5m',
  ...payload
}: Token = {}): Promise<string> {
  const token = new SignJWT({ sub: 'anna', scope: 'bank-data', ...claims, ...payload });
  if (expiresAt !== null) token.setExpirationTime(expiresAt);
  return token
    .setProtectedHeader({ alg: 'ES256', kid: 'k1', ...header })
    .setIssuedAt()
    .sign(key, { crit: { custom: true } });
}

/** A valid token, unless these claims differ. Their text may have numbers that JavaScript cannot write, such as 1e999. */
function tTokenOf(changes: string): Promise<string> {
  const text = JSON.stringify({ sub: 'anna', ...claims, exp: now() + 300 }).replace('}', `,${changes}}`);
  return new CompactSign(Buffer.from(text)).setProtectedHeader({ alg: 'ES256', kid: 'k1' }).sign(ec.privateKey);
}

const now = () => Math.floor(Date.now() / 1_000);
const hmacOfPublicKey = async () => {
  const [, payload] = (await tToken()).split('.');
  const header = Buffer.from('{"alg":"HS256","typ":"JWT"}').toString('base64url');
  const signature = createHmac('sha256', pemOf(ec.publicKey)).update(`${header}.${payload}`).digest('base64url');
  return `${header}.${payload}.${signature}`;
};
const unsigned = () => new UnsecuredJWT({ sub: 'anna', ...claims }).setExpirationTime('5m').encode();

/** Tokens that are refused where `ec` is the issuer's key. */
export const invalidTokens: [name: string, create: () => Promise<string> | string][] = [
  ['expired', () => tToken({ exp: now() - 31, expiresAt: null })],
  ['not yet valid', () => tToken({ nbf: now() + 60 })],
  ['without expiry', () => tToken({ expiresAt: null })],
  ['with an infinite expiry', () => tTokenOf('"exp":1e999')],
  ['with an infinite begin', () => tTokenOf('"nbf":-1e999')],
  ['with an infinite time of issue', () => tTokenOf('"iat":1e999')],
  ['with an expiry that is a text', () => tTokenOf('"exp":"9999999999"')],
  ['for another audience', () => tToken({ aud: 'other' })],
  ['for no audience', async () => tToken({ aud: [] })],
  ['of another issuer', () => tToken({ iss: 'https://other.example' })],
  ['signed with another key', () => tToken({ key: otherEc.privateKey })],
  ['signed with another algorithm', () => tToken({ header: { alg: 'RS256' }, key: rsa.privateKey })],
  ['with alg none', unsigned],
  ['with alg none and a signature', async () => `${unsigned()}${(await tToken()).split('.')[2]}`],
  ['with HS256 and the public key', hmacOfPublicKey],
  ['with a critical extension', () => tToken({ header: { crit: ['custom'], custom: 'x' } })],
  [
    'changed',
    async () => (await tToken()).replace(/\..*\./, `.${Buffer.from('{"sub":"eve"}').toString('base64url')}.`),
  ],
  ['without its signature', async () => (await tToken()).replace(/[^.]*$/, '')],
  ['oversize', () => tToken({ note: 'x'.repeat(8_192) })],
  ['without a caller', () => tToken({ sub: '' })],
  ['with a long caller', () => tToken({ sub: 'x'.repeat(257) })],
  ['without content', () => 'a.b.c'],
];

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

/** A caller who may use everything without limits. */
export const tCaller: Caller = {
  id: 'anonymous',
  name: 'anonymous',
  kind: 'anonymous',
  scopes: new Set(['bank-data', 'essays', 'introspection', 'graphiql', 'traces', 'cost']),
  limits: { requestsPerMinute: null, bankDataCalls: null, essayCalls: null, maxQueryCost: null },
  accessKey: '',
};

/** Every request is one of this caller. */
export const tAccess: Pick<Access, 'identifyAndCount' | 'identifySignedAndCount' | 'confirm'> = {
  identifyAndCount: () => tCaller,
  identifySignedAndCount: () => tCaller,
  confirm: async () => true,
};

/** The context of a caller who waits until the signal aborts. */
export function tRequestContext(signal: Signal = new AbortableSignal()): RequestContext {
  return createRequestContext(signal);
}
