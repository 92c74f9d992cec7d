import { readFileSync } from 'node:fs';
import { composeServices as composeByApollo } from '@apollo/composition';
import { composeServices as composeByTheGuild, composeSchemaContract } from '@theguild/federation-composition';
import { federateSubgraphs as composeByCosmo } from '@wundergraph/composition';
import { buildSchema, type GraphQLSchema, isObjectType, parse } from 'graphql';
import { afterEach, describe, expect, it } from 'vitest';
import { readSubgraphs } from '../../examples/supergraph/compose.ts';
import { printSubgraph, printSupergraph, supergraphFile } from '../../scripts/print-schema.ts';
import { schema } from '../../src/gateway/graphql/schema/schema.ts';
import { tCaller } from '../support/gateway/callers.ts';
import { tGateway } from '../support/gateway.ts';
import { countJudgement } from '../support/plain-summary.ts';

/* Composition of the schema with the payments subgraph of the example, by the libraries of the three routers' makers. */

const subgraphs = readSubgraphs({ payments: 'http://payments/graphql', ledgerquill: 'http://ledgerquill/graphql' });

/** The same, with the SDL that a running gateway returns to routers. */
async function readServedSubgraphs() {
  const { data } = await tGateway().ask('{ _service { sdl } }');
  const typeDefs = parse(String(data?._service?.sdl));
  return subgraphs.map((subgraph) => ({ ...subgraph, ...(subgraph.name === 'ledgerquill' && { typeDefs }) }));
}

describe('a supergraph of payments and what Ledgerquill returns for _service', () => {
  afterEach(({ task }) => countJudgement(task, 'Composition by Apollo, The Guild and Cosmo'));

  it('composes with Apollo’s library without errors, with hints only about missing descriptions', async () => {
    const { errors, hints = [] } = composeByApollo(await readServedSubgraphs());
    expect(errors).toBeUndefined();
    expect(hints.map(({ message }) => message).filter((message) => !message.includes('description'))).toEqual([]);
  });

  it('composes with The Guild’s library to the supergraph.graphql of the example', async () => {
    const { errors, supergraphSdl } = composeByTheGuild(await readServedSubgraphs());
    expect(errors).toBeUndefined();
    expect(supergraphSdl?.trim()).toBe(readFileSync(supergraphFile, 'utf8').trim());
    expect(supergraphSdl).toContain('@join__type(graph: PAYMENTS, key: "iban", resolvable: false)');
  });

  it('composes with Cosmo’s library without errors or warnings, to the same schema for clients', async () => {
    const served = await readServedSubgraphs();
    const result = composeByCosmo({
      subgraphs: served.map(({ typeDefs, ...rest }) => ({ ...rest, definitions: typeDefs })),
    });
    if (!result.success) throw new Error(result.errors.map(({ message }) => message).join('\n'));
    expect(result.warnings).toEqual([]);
    const { publicSdl } = composeByTheGuild(served);
    expect(fieldsOfAll(result.federatedGraphClientSchema)).toEqual(fieldsOfAll(buildSchema(publicSdl ?? '')));
  });
});

describe('another subgraph with node(id:)', () => {
  const composeWith = (directive: string) => {
    const typeDefs = parse(`extend schema @link(url: "https://specs.apollo.dev/federation/v2.9", import: ["@override"])
      interface Node { id: ID! } type Query { node(id: ID!): Node ${directive} }`);
    return composeByApollo([...subgraphs, { name: 'nodes', url: 'http://nodes/graphql', typeDefs }]);
  };

  it('takes it over with @override', () => {
    expect(composeWith('@override(from: "ledgerquill")').errors).toBeUndefined();
  });

  it('does not compose without', () => {
    expect(composeWith('').errors?.map(({ message }) => message)).toEqual([expect.stringContaining('"Query.node"')]);
  });
});

describe('the supergraph.graphql of the example', () => {
  it('matches the schema; `npm run schema` prints it', () => {
    expect(readFileSync(supergraphFile, 'utf8')).toBe(printSupergraph());
  });

  it.each(['@cost(weight: 10)', '@listSize(', '@tag(name: "personal-data")', '@tag(name: "paid")'])(
    'passes %s on to routers',
    (directive) => expect(readFileSync(supergraphFile, 'utf8')).toContain(directive),
  );

  it('needs the link version that it declares: the previous version has no @cost', () => {
    const older = printSubgraph().replace('federation/v2.9', 'federation/v2.8');
    const [payments, ledgerquill] = subgraphs;
    if (!payments || !ledgerquill) throw new Error('there are two');
    const { errors } = composeByApollo([payments, { ...ledgerquill, typeDefs: parse(older) }]);
    expect(errors?.map(({ message }) => message).join()).toMatch(/@cost/);
  });
});

describe('a contract that excludes', () => {
  function contractWithout(tag: string): GraphQLSchema {
    const { errors, publicSdl } = composeSchemaContract(
      subgraphs,
      { include: new Set(), exclude: new Set([tag]) },
      true,
    );
    expect(errors).toBeUndefined();
    return buildSchema(publicSdl ?? '');
  }

  it('personal data still has the bank, and has no IBAN in fields or arguments', () => {
    const contract = contractWithout('personal-data');
    expect(fieldsOf(contract, 'Payee')).toEqual(['id', 'name', 'validation']);
    expect(fieldsOf(contract, 'IbanValidation')).toContain('bankData');
    for (const type of Object.values(contract.getTypeMap()).filter(isObjectType)) {
      for (const { name, args } of Object.values(type.getFields())) {
        // BICs identify banks, not people; limits are numbers.
        if (`${type}.${name}` === 'BicValidation.suggestions' || type.name === 'Limits') continue;
        expect(name).not.toMatch(/^(ibans?|bban|accountNumber|checksum|nationalChecksum|suggestions)$/);
        expect(args.map((arg) => arg.name).filter((arg) => /^ibans?$/.test(arg))).toEqual([]);
      }
    }
  });

  it('paid fields still has computed and stored data', () => {
    const contract = contractWithout('paid');
    expect(fieldsOf(contract, 'Query')).toEqual([
      'allowances',
      'bankLists',
      'countries',
      'country',
      'essay',
      'essayOrder',
      'essayOrders',
      'limits',
      'payees',
    ]);
    expect(fieldsOf(contract, 'Payee')).toEqual(['iban', 'id', 'name']);
    expect(fieldsOf(contract, 'Mutation')).toEqual(['cancelEssayOrder', 'deleteEssayOrder']);
  });

  function fieldsOf(contract: GraphQLSchema, typeName: string): string[] {
    const type = contract.getType(typeName);
    return isObjectType(type) ? Object.keys(type.getFields()).sort() : [];
  }
});

describe('assumed list sizes', () => {
  it('are the sizes of the lists', () => {
    expect(printSubgraph()).toMatch(/countries\([^)]*\): \[IbanCountry!\]! @listSize\(assumedSize: \d+\)/);
    const field = schema.getQueryType()?.getFields().countries;
    const answer = field?.resolve?.({}, {}, { caller: tCaller, slices: null }, {} as never) as unknown[];
    expect(printSubgraph()).toContain(`[IbanCountry!]! @listSize(assumedSize: ${answer.length})`);
  });
});

/** `Type.field: FieldType`, of all object types. */
function fieldsOfAll(schema: GraphQLSchema): string[] {
  return Object.values(schema.getTypeMap())
    .filter(isObjectType)
    .filter(({ name }) => !name.startsWith('_'))
    .flatMap((type) => Object.values(type.getFields()).map((field) => `${type}.${field.name}: ${field.type}`))
    .sort();
}
