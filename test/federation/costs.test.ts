import { createGatewayRuntime } from '@graphql-hive/gateway-runtime';
import { expect, it, onTestFinished } from 'vitest';
import { transports } from '../../examples/supergraph/transport.ts';
import { tSupergraph } from '../support/federation/supergraph.ts';
import { postJson } from '../support/loopback.ts';

/* Demand control of a router by @cost and @listSize: 10 per look-up, 100 per essay, 1 per other object. */

const ibans = '["DE89370400440532013000", "NL91ABNA0417164300"]';

interface Estimated {
  extensions?: { cost?: { estimated: number } };
}

const costs = {
  '{ country(code: "DE") { name } }': 1,
  '{ ibanValidation(iban: "DE89370400440532013000") { valid bankData { name } } }': 10 + 1,
  [`{ ibanValidations(ibans: ${ibans}) { valid } }`]: 50 * 10,
  '{ bicValidation(bic: "COBADEFFXXX") { valid } }': 10 + 1,
  '{ bank(bic: "COBADEFFXXX") { name } }': 10 + 1,
  '{ banks(first: 7) { nodes { name } } }': 10 + 1 + 7,
  '{ banks { edges { node { name } } } }': 10 + 1 + 20 * 2,
  '{ generateIban(input: { country: "DE" }) { __typename } }': 10 + 1,
  'mutation { generateEssay(input: { description: "Tea", wordCount: 9 }) { __typename } }': 100 + 1,
};

it('a router estimates the cost of each kind of request', async () => {
  const { sdl } = await tSupergraph();
  const demandControl = { includeExtensionMetadata: true };
  const router = createGatewayRuntime({ supergraph: sdl, transports, logging: false, demandControl });
  onTestFinished(() => router.dispose());
  const estimate = async (query: string) => {
    const { fetch } = router;
    const { extensions } = await postJson<Estimated>('http://router/graphql', { query }, { fetch });
    return [query, extensions?.cost?.estimated];
  };
  const estimated = await Promise.all(Object.keys(costs).map(estimate));
  expect(Object.fromEntries(estimated)).toEqual(costs);
});
