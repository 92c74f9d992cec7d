import { readFileSync } from 'node:fs';
import { composeServices as composeByApollo } from '@apollo/composition';
import { composeServices as composeByTheGuild, composeSchemaContract } from '@theguild/federation-composition';
import { buildSchema, type GraphQLSchema, isObjectType, parse } from 'graphql';
import { describe, expect, it } from 'vitest';
import { readSubgraphs } from '../../examples/supergraph/compose.ts';
import { printSubgraph, printSupergraph, supergraphFile } from '../../scripts/print-schema.ts';
import { schema } from '../../src/graphql/schema/schema.ts';
import { tCaller } from '../support/caller.ts';

/* Composition of the schema with the payments subgraph of the example. */

const subgraphs = readSubgraphs({ payments: 'http://payments/graphql', ledgerquill: 'http://ledgerquill/graphql' });

describe('the supergraph of payments and Ledgerquill', () => {
  it('composes with Apollo’s library without errors, with hints only about missing descriptions', () => {
    const { errors, hints = [] } = composeByApollo(subgraphs.map((subgraph) => ({ ...subgraph })));
    expect(errors).toBeUndefined();
    expect(hints.map(({ message }) => message).filter((message) => !message.includes('description'))).toEqual([]);
  });

  it('composes with The Guild’s library to the supergraph.graphql of the example', () => {
    const { errors, supergraphSdl } = composeByTheGuild(subgraphs);
    expect(errors).toBeUndefined();
    expect(readFileSync(supergraphFile, 'utf8')).toBe(printSupergraph());
    expect(supergraphSdl).toContain('@join__type(graph: PAYMENTS, key: "iban", resolvable: false)');
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
        // BICs identify banks, not people.
        if (`${type}.${name}` === 'BicValidation.suggestions') continue;
        expect(name).not.toMatch(/^(ibans?|bban|accountNumber|checksum|nationalChecksum|suggestions)$/);
        expect(args.map((arg) => arg.name).filter((arg) => /^ibans?$/.test(arg))).toEqual([]);
      }
    }
  });

  it('paid fields still has computed and stored data', () => {
    const contract = contractWithout('paid');
    expect(fieldsOf(contract, 'Query')).toEqual(['allowances', 'countries', 'country', 'essay', 'payees']);
    expect(fieldsOf(contract, 'Payee')).toEqual(['iban', 'id', 'name']);
    expect(contract.getMutationType()).toBeUndefined();
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
    const answer = field?.resolve?.({}, {}, { caller: tCaller }, {} as never) as unknown[];
    expect(printSubgraph()).toContain(`[IbanCountry!]! @listSize(assumedSize: ${answer.length})`);
  });
});
