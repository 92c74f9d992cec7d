import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import {
  type GraphQLInputType,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  isCompositeType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isObjectType,
} from 'graphql';
import { onTestFinished } from 'vitest';
import { tFolder } from '../gateway/stores/folder.ts';
import { bundleScript } from '../process.ts';
import type { Random } from '../random.ts';
import type { Reading } from './meter.ts';

export interface Measurement {
  request: FuzzRequest;
  status: number;
  bytes: number;
  lookUps: number;
  cpuMs: number;
  /** Growth of resident memory while the request was processed. */
  grownMb: number;
  /** The longest turn of the event loop, and the most resident memory, of a request that is watched; otherwise 0. */
  blockMs: number;
  peakMb: number;
}

/** A gateway process with a preloaded meter, which answers each message with a reading. Ended with the test. */
export async function tMeteredGateway<Message extends string, MeterReading>(
  meter: string,
  flags: readonly string[],
  env: Readonly<Record<string, string>>,
) {
  const args = [...flags, '--import', bundleScript(`test/support/fuzz/${meter}.ts`), 'dist/main.js'];
  const child = spawn(process.execPath, args, {
    cwd: join(import.meta.dirname, '../../..'),
    env: { PATH: process.env.PATH, PORT: '0', DATA_DIR: tFolder(), LOG_LEVEL: 'fatal', ENV_FILE: '', ...env },
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  const ended = once(child, 'exit').then(([code, signal]) => {
    throw new Error(`the gateway ended with ${code ?? signal}`);
  });
  ended.catch(() => {});
  onTestFinished(() => void child.kill('SIGKILL'));
  const origin = await Promise.race([readOrigin(child.stdout), ended]);
  return {
    origin,
    /** Rejects when the process has ended. */
    ended,
    hasEnded: () => child.exitCode !== null,
    async read(message: Message): Promise<MeterReading> {
      child.send(message);
      const [reading] = await Promise.race([once(child, 'message'), ended]);
      return reading as MeterReading;
    },
  };
}

export interface MeasureOptions {
  /** Whether garbage is collected before. */
  collects?: boolean;
  /** Whether turns of the event loop are measured, too, which uses CPU time. */
  watches?: boolean;
  isTraced?: boolean;
  credentials?: Readonly<Record<string, string>>;
}

/** A gateway process that reports what each request uses. Requests are sent one after another. */
export async function tMeasuredGateway(env: Readonly<Record<string, string>>, heapMb = 512) {
  const { origin, ended, read } = await tMeteredGateway<'read' | 'collect' | 'watch', Reading>(
    'meter',
    [`--max-old-space-size=${heapMb}`, '--expose-gc'],
    { ANONYMOUS_SCOPES: 'bank-data+essays+cost', ...env },
  );

  return {
    async measure(
      request: FuzzRequest,
      { collects = false, watches = false, isTraced = false, credentials = {} }: MeasureOptions = {},
    ): Promise<Measurement> {
      const before = await read(watches ? 'watch' : collects ? 'collect' : 'read');
      const accepted = { 'content-type': 'application/json', 'accept-encoding': 'identity', 'x-cost': '1' };
      const trace = isTraced ? { 'apollo-federation-include-trace': 'ftv1' } : {};
      const version = request.message ? { 'mcp-protocol-version': '2025-11-25' } : {};
      const headers = { ...accepted, ...credentials, ...trace, ...version };
      const response = await Promise.race([
        fetch(`${origin}${request.message ? '/mcp' : '/graphql'}`, {
          method: 'POST',
          headers,
          body: JSON.stringify(request.message ?? request),
        }),
        ended,
      ]);
      const text = await response.text();
      const { cpuMs, rssMb, blockMs, peakMb } = await read('read');
      const lookUps = Number(/"lookUps":(\d+)/.exec(text.slice(-300))?.[1] ?? 0);
      const grownMb = rssMb - before.rssMb;
      return {
        request,
        status: response.status,
        bytes: Buffer.byteLength(text),
        lookUps,
        cpuMs,
        grownMb,
        blockMs,
        peakMb,
      };
    },
  };
}

async function readOrigin(stdout: NodeJS.ReadableStream | null): Promise<string> {
  for await (const chunk of stdout ?? []) {
    const origin = /(http:\/\/\S+)\/graphql/.exec(String(chunk))?.[1];
    if (origin !== undefined) return origin;
  }
  throw new Error('the gateway did not start');
}

export interface FuzzRequest {
  query: string;
  variables?: Readonly<Record<string, unknown>>;
  /** One of MCP, which is sent in place of the query that describes it. */
  message?: object;
}

/** Requests that are as expensive for their size as the schema permits, many of them invalid. The same for the same seed. */
export function createRequests(schema: GraphQLSchema, random: Random): () => FuzzRequest {
  const pick = <T>(choices: readonly [T, ...T[]]): T => choices[random(choices.length - 1)] ?? choices[0];
  const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));
  const rarely = (oneIn: number) => random(oneIn - 1) === 0;
  const objectTypes = Object.values(schema.getTypeMap()).filter(isObjectType);

  return () => {
    for (;;) {
      const make = pick([
        fromSchema,
        fromSchema,
        fromSchema,
        fragmentProduct,
        longText,
        wrongVariables,
        manyErrors,
        nesting,
        entities,
      ]);
      const request = make();
      // Larger bodies are rejected before they are read, and of the larger documents only the length is.
      const isLargeDocument = request.query.length > 100_000 && !rarely(10);
      if (!isLargeDocument && Buffer.byteLength(JSON.stringify(request)) < 1_000_000) return request;
    }
  };

  /** Random fields of the schema, with aliases, fragments and random arguments. */
  function fromSchema(): FuzzRequest {
    const isMutation = rarely(8);
    const root = isMutation ? schema.getMutationType() : schema.getQueryType();
    const spread = rarely(3) ? ' ...F' : '';
    const fragment = spread && root ? ` fragment F on ${root.name} ${select(root, 2)}` : '';
    return {
      query: `${isMutation ? 'mutation' : 'query'} ${select(root, 5).replace(/ \}$/, `${spread} }`)}${fragment}`,
    };
  }

  function select(type: GraphQLNamedType | null | undefined, depth: number): string {
    if (!isObjectType(type) || depth === 0) return '{ __typename }';
    const fields = Object.values(type.getFields());
    const chosen = times(1 + random(3), () => fields[random(fields.length - 1)]).flatMap((field) => field ?? []);
    const selections = chosen.flatMap((field) => {
      const args = field.args
        .filter((arg) => isNonNullType(arg.type) || rarely(2))
        .map((arg) => `${arg.name}: ${value(arg.type)}`);
      const named = getNamedType(field.type);
      return times(pick(depth > 3 ? [1, 1, 2, 60] : [1, 1, 2, 4]), (index) => {
        const below = isObjectType(named) ? select(named, depth - 1) : isCompositeType(named) ? '{ __typename }' : '';
        return `${field.name}_${index}: ${field.name}${args.length > 0 ? `(${args.join(', ')})` : ''} ${below}`;
      });
    });
    return `{ ${selections.join(' ')} }`;
  }

  function value(type: GraphQLInputType): string {
    if (isNonNullType(type)) return value(type.ofType);
    if (rarely(20)) return pick(['null', '1', '"text"', '[]', '{}', 'ENUM', '1e400']);
    if (isListType(type)) return `[${times(pick([0, 1, 3, 40]), () => value(type.ofType)).join(', ')}]`;
    if (isEnumType(type)) return pick(type.getValues().map(({ name }) => name) as [string, ...string[]]);
    if (isInputObjectType(type)) {
      const fields = Object.values(type.getFields()).map((field) => `${field.name}: ${value(field.type)}`);
      return `{ ${fields.join(', ')} }`;
    }
    if (type.name === 'Int' || type.name === 'Float') return pick(['1', '20', '100', '2147483647', '-1']);
    if (type.name === 'Boolean') return pick(['true', 'false']);
    return JSON.stringify(text());
  }

  function text(): string {
    return pick([
      'DE89370400440532013000',
      'DE89370400440532013001',
      'COBADEFFXXX',
      'FR',
      'a '.repeat(random(400)),
      '1'.repeat(random(200)),
      'ﷺ'.repeat(random(100)),
      '',
    ]);
  }

  /** Types that lead to each other, multiplied by aliases at every level. */
  function fragmentProduct(): FuzzRequest {
    const aliases = 2 + random(6);
    const levels = 2 + random(8);
    const fields: readonly [string, ...string[]] = pick([
      ['territories', 'parent'],
      ['territories'],
      ['parent', 'territories'],
      ['ibanFields'],
    ]);
    const fragments = times(levels, (level) => {
      const field = fields[level % fields.length];
      const below = level === levels - 1 || field === 'ibanFields' ? '__typename' : `...F${level + 1}`;
      const name = field === 'ibanFields' ? '__typename' : below;
      return `fragment F${level} on IbanCountry { ${times(aliases, (i) => `a${i}: ${field} { ${name} }`).join(' ')} }`;
    });
    const root = pick([
      'country(code: "FR")',
      'countries',
      'ibanValidation(iban: "FR1420041010050500013M02606") { country',
    ]);
    return { query: `{ ${root} { ...F0 }${root.includes('{') ? ' }' : ''} } ${fragments.join(' ')}` };
  }

  /** Long texts in every place that echoes, compares or normalizes them. */
  function longText(): FuzzRequest {
    const size = pick([100, 5_000, 100_000, 900_000]);
    const long = pick(['D', 'a ', '1', '-', '\n', 'ß', '"']).repeat(size).slice(0, size);
    const aliases = (field: string) => times(1 + random(200), (i) => `a${i}: ${field}`).join(' ');
    const query = pick([
      `query ($t: String!) { ibanValidation(iban: $t) { ${aliases('iban')} } }`,
      `query ($t: String!) { bicValidation(bic: $t) { ${aliases('bic')} } }`,
      `query ($t: String!) { ${aliases('country(code: $t) { code }')
        .slice(0, 4_000)
        .replace(/ a\d*:?[^}]*$/, '')} }`,
      'query ($t: String!) { banks(search: $t) { nodes { name } } }',
      'query ($t: String!) { banks(after: $t) { nodes { name } } }',
      'query ($t: ID!) { essay(id: $t) { text } }',
      'query ($t: String!) { generateIban(input: { country: "DE", bankCode: $t, accountNumber: $t }) { __typename } }',
      'query ($t: String!) { ibanValidations(ibans: [$t, $t, $t]) { iban suggestions } }',
      'mutation ($t: String!) { generateEssay(input: { description: $t, wordCount: 1 }) { __typename } }',
    ]);
    return { query, variables: { t: long } };
  }

  /** Values of variables that are large where their type permits none, which errors could repeat. */
  function wrongVariables(): FuzzRequest {
    const size = pick([10, 1_000, 60_000]);
    const wide = Object.fromEntries(times(size, (index) => [`k${index}`, index]));
    const wrong = pick<unknown>([
      wide,
      [wide],
      { country: wide },
      { x: wide },
      'x'.repeat(10 * size),
      times(size, () => 1),
    ]);
    const query = pick([
      'query ($v: String!) { country(code: $v) { code } }',
      'query ($v: [String!]!) { ibanValidations(ibans: $v) { iban } }',
      'query ($v: Int!) { banks(first: $v) { totalCount } }',
      'query ($v: Boolean!) { __typename @include(if: $v) }',
      'query ($v: GenerateIbanInput!) { generateIban(input: $v) { __typename } }',
      'mutation ($v: GenerateEssayInput!) { generateEssay(input: $v) { __typename } }',
      'query ($v: [_Any!]!) { _entities(representations: $v) { __typename } }',
    ]);
    return { query, variables: { v: wrong } };
  }

  /** Errors of every kind, behind many lines. */
  function manyErrors(): FuzzRequest {
    const lines = pick(['', '\n'.repeat(100_000), ','.repeat(400_000), '#\n'.repeat(100_000)]);
    const count = random(900);
    return pick<FuzzRequest>([
      { query: `${lines}{ ${times(count, (i) => `unknown${i}`).join(' ')} }` },
      { query: `${lines}{ ${times(count, (i) => `a${i}: banks(first: 0) { totalCount }`).join(' ')} }` },
      { query: `${lines}{ ${times(count, (i) => `a${i}: country(code: ${i}) { code }`).join(' ')} }` },
      { query: `${lines}{ ${'ibanValidation '.repeat(count)} }` },
      { query: `${lines}query ($v: Unknown) { ${'...Missing '.repeat(count)} }` },
    ]);
  }

  function nesting(): FuzzRequest {
    const depth = random(5_000);
    return pick<FuzzRequest>([
      { query: `{ ${'a { '.repeat(depth)}` },
      { query: `{ country(code: ${'['.repeat(depth)}` },
      { query: `{ country(code: ${'{a: '.repeat(depth)}1${'}'.repeat(depth)}) { code } }` },
      { query: `query ($v: ${'['.repeat(depth)}Int${']'.repeat(depth)}) { __typename }` },
      { query: `{ __schema { types { ${'fields { type { '.repeat(random(8))}name${' } }'.repeat(8)} } }` },
      {
        query: 'query ($v: String!) { country(code: $v) { code } }',
        variables: { v: JSON.parse('['.repeat(900) + ']'.repeat(900)) },
      },
    ]);
  }

  function entities(): FuzzRequest {
    const type = pick(['Missing', ...objectTypes.map(({ name }) => name)]);
    const representation = pick<unknown>([
      { __typename: 'IbanCountry', code: 'FR' },
      { __typename: 'IbanValidation', iban: text() },
      { __typename: type },
      { __typename: 'BankData', id: 1 },
      null,
      'text',
    ]);
    const lines = rarely(2) ? '\n'.repeat(50_000) : '';
    const query = `query ($r: [_Any!]!) {${lines} _entities(representations: $r) { __typename ... on IbanCountry { territories { parent { code } } } } }`;
    return { query, variables: { r: times(pick([1, 30, 1_000, 20_000]), () => representation) } };
  }
}
