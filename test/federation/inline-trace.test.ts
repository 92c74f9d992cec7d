import { Trace } from '@apollo/usage-reporting-protobuf';
import { buildSchema } from 'graphql';
import { describe, expect, it } from 'vitest';
import type { Environment } from '../../src/base/variables/read-variables.ts';
import { repeat } from '../support/gateway/graphql/documents.ts';
import { tServer } from '../support/gateway/graphql/graphql-server.ts';
import { type Answer, bankDataKey, tScriptedGateway } from '../support/gateway.ts';
import { type Reply, replyJson } from '../support/scripted-upstream.ts';

const german = 'DE89370400440532013000';
const echo = replyJson(200, { valid: true });

async function tTraced(reply: Reply = echo, env: Environment = { ANONYMOUS_SCOPES: 'bank-data+essays+traces' }) {
  const { postLocally } = await tScriptedGateway(reply, env);
  return async (query: string, variables: object = {}, headers: Record<string, string> = { [header]: 'ftv1' }) => {
    const response = await postLocally({ query, variables }, headers);
    const answer = (await response.json()) as Answer & { extensions?: { ftv1?: string; cost?: unknown } };
    const bytes = Buffer.from(answer.extensions?.ftv1 ?? '', 'base64');
    return { answer, trace: Trace.decode(bytes), text: bytes.toString('latin1') };
  };
}

const header = 'apollo-federation-include-trace';

describe('extensions.ftv1', () => {
  it('has each field with its type and duration', async () => {
    const ask = await tTraced();
    const { answer, trace } = await ask(`{ checked: ibanValidation(iban: "${german}") { valid } }`);
    expect(answer.data).toEqual({ checked: { valid: true } });
    const [root] = trace.root?.child ?? [];
    expect(root).toMatchObject({
      responseName: 'checked',
      originalFieldName: 'ibanValidation',
      parentType: 'Query',
      type: 'IbanValidation',
    });
    expect(Number(root?.endTime)).toBeGreaterThan(Number(root?.startTime));
    expect(root?.child).toMatchObject([{ responseName: 'valid', parentType: 'IbanValidation', type: 'Boolean' }]);
  });

  const on = { ANONYMOUS_SCOPES: 'bank-data+essays+traces' };
  it.each([
    [on, {}],
    [on, { [header]: 'ftv2' }],
    [{}, { [header]: 'ftv1' }],
    [{ ANONYMOUS_SCOPES: 'bank-data+essays' }, { [header]: 'ftv1' }],
  ])('is absent with %j for a request with the headers %j', async (env, headers) => {
    const ask = await tTraced(echo, env);
    const { answer } = await ask('{ country(code: "DE") { name } }', {}, headers);
    expect(answer).toEqual({ data: { country: { name: 'Germany' } } });
  });

  it('is limited like other responses', async () => {
    const ask = await tTraced();
    const countries = repeat(300, (index) => `c${index}: countries { name territories { name } }`);
    const { answer, trace } = await ask(`{ ${countries} }`);
    expect(answer.errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT' } }]);
    expect(trace.root).toMatchObject({ child: [], error: [{ message: answer.errors?.[0]?.message }] });
  });

  it('has no fields for a large response', async () => {
    const ask = await tTraced();
    const { answer, trace } = await ask(`{ ${repeat(100, (index) => `c${index}: countries { code name isSepa }`)} }`);
    expect(answer.data?.c99).toHaveLength(89);
    expect(trace.root?.child).toEqual([]);
    expect(Number(trace.durationNs)).toBeGreaterThan(0);
  });

  it('is added to the other extensions', async () => {
    const ask = await tTraced(echo, { ANONYMOUS_SCOPES: 'bank-data+essays+traces+cost' });
    const { answer } = await ask('{ country(code: "DE") { name } }', {}, { [header]: 'ftv1', 'x-cost': '1' });
    expect(answer.extensions).toEqual({ ftv1: expect.any(String), cost: expect.any(Object) });
  });

  it('is complete for the entities of 1,000 payees', async () => {
    const ask = await tTraced();
    const representations = Array.from({ length: 1_000 }, () => ({ __typename: 'IbanValidation', iban: german }));
    const fields = 'iban valid problems nationalCheck suggestions countryIbanExample country { code name ibanLength }';
    const query = `query ($representations: [_Any!]!) {
      _entities(representations: $representations) { ... on IbanValidation { ${fields} } } }`;
    const { answer, trace } = await ask(query, { representations });
    expect(answer.errors).toBeUndefined();
    const [entities] = trace.root?.child ?? [];
    expect(entities?.child).toHaveLength(1_000);
    expect(entities?.child?.[999]?.child).toHaveLength(7);
  });
});

describe('an error in a trace', () => {
  it('is at its field, as clients see it, without IBAN, key or upstream URL', async () => {
    let url = '';
    const ask = await tTraced((response, call) => {
      url = String(call.headers.host);
      return replyJson(404, { message: `no ${german} for ${bankDataKey} at ${url}` })(response, call);
    });
    const { answer, trace, text } = await ask(`{ ibanValidations(ibans: ["${german}"]) { valid } }`);
    const [list] = trace.root?.child ?? [];
    const field = list?.child?.[0]?.child?.[0];
    expect(field?.error).toMatchObject([{ location: [{ line: 1, column: 56 }] }]);
    expect(JSON.parse(field?.error?.[0]?.json ?? '')).toMatchObject({
      path: ['ibanValidations', 0, 'valid'],
      extensions: { code: 'UPSTREAM_FAILED', service: 'bank-data' },
    });
    expect(url).not.toBe('');
    for (const secret of [german, bankDataKey, url]) {
      expect(text).not.toContain(secret);
      expect(JSON.stringify(answer)).not.toContain(secret);
    }
  });

  it.each([
    ['a variable of another type', { code: [german, german] }],
    ['null for an argument that must not be null', { code: null }],
  ])('caused by the client does not repeat an IBAN: %s', async (_, variables) => {
    const ask = await tTraced();
    const query = 'query ($code: String = "DE") { country(code: $code) { name } }';
    const { answer, trace, text } = await ask(query, variables);
    expect(answer.errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT' } }]);
    expect(trace.root?.error).toHaveLength(1);
    expect(text).not.toContain(german);
  });

  it('caused by a bug hides its details', async () => {
    const schema = buildSchema('type Query { broken: Int }');
    const fault = () => {
      throw new TypeError(`cannot read ${bankDataKey} of ${german}`);
    };
    Object.assign(schema.getQueryType()?.getFields().broken ?? {}, { resolve: fault });
    const ask = tServer({ schema, createContext: (requestContext) => ({ requestContext }), secrets: [bankDataKey] });
    const { extensions } = await ask('{ broken }', {}, { [header]: 'ftv1' });
    const bytes = Buffer.from(extensions?.ftv1 ?? '', 'base64');
    expect(Trace.decode(bytes).root?.child?.[0]?.error).toMatchObject([
      { message: 'Internal error; the gateway logged it under this requestId.' },
    ]);
    for (const hidden of ['cannot read', bankDataKey, german]) expect(bytes.toString('latin1')).not.toContain(hidden);
  });
});
