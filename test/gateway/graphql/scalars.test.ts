import { getNamedType, isObjectType, isScalarType, isSpecifiedScalarType } from 'graphql';
import { describe, expect, it } from 'vitest';
import { schema } from '../../../src/gateway/graphql/schema/schema.ts';
import { tScriptedGateway } from '../../support/gateway.ts';
import { replyJson } from '../../support/scripted-upstream.ts';

const scalars = Object.values(schema.getTypeMap())
  .filter(isScalarType)
  .filter((type) => !isSpecifiedScalarType(type) && !type.name.startsWith('_'));

describe('the scalars', () => {
  it.each(scalars)('$name says by what it is specified, in introspection and for routers', (scalar) => {
    expect(scalar.specifiedByURL).toMatch(/^https:/);
    expect(scalar.astNode?.directives?.map(({ name }) => name.value)).toEqual(['specifiedBy']);
  });

  it('are IBANs, BICs, dates and times', () => {
    expect(scalars.map(({ name }) => name).toSorted()).toEqual(['BIC', 'Date', 'DateTime', 'IBAN']);
  });

  it('are only in results: what people type is text, so that a wrong one is a result with its problems', () => {
    const objects = Object.values(schema.getTypeMap()).filter(isObjectType);
    const types = objects.flatMap((type) => Object.values(type.getFields()).flatMap(({ args }) => args));
    expect(types.filter(({ type }) => scalars.includes(getNamedType(type) as never))).toEqual([]);
  });
});

it.each([
  ['2026-03-01', '2026-03-01'],
  ['2026-03-01T08:00:00Z', '2026-03-01'],
  ['030126', null],
  ['01.03.2026', null],
])('a bank with the date %j of the service has the date %j', async (date, expected) => {
  const answer = { valid: true, bank_data: { name: 'Bank', date } };
  const { ask } = await tScriptedGateway(replyJson(200, answer));
  const { data } = await ask('{ ibanValidation(iban: "DE89370400440532013000") { bankData { name date } } }');
  expect(data?.ibanValidation?.bankData).toEqual({ name: 'Bank', date: expected });
});
