import { buildSubgraphSchema } from '@apollo/subgraph';
import { type Change, CriticalityLevel, DiffRule, diff, type Rule } from '@graphql-inspector/core';
import { type GraphQLSchema, parse } from 'graphql';

/** A breaking change that is meant. */
export interface Declaration {
  /** What is changed, as the check names it: `Bank.zip`, `Query.banks.first`. */
  path: string;
  reason: string;
}

export interface SchemaChanges {
  /** Breaking changes that nobody declared. */
  breaking: string[];
  declared: string[];
  /** What may surprise a client that was written carelessly, such as one without a default in its switch. */
  dangerous: string[];
  harmless: string[];
  /** Declarations of what did not change. */
  idle: string[];
}

/** What changed between two subgraphs, each in SDL, and what that means for those who ask or compose them. */
export async function findSchemaChanges(
  released: string,
  present: string,
  declarations: readonly Declaration[],
): Promise<SchemaChanges> {
  const changes = await diff(build(released), build(present), [
    leaveOutDefinitionsOfDirectives,
    breakComposition,
    DiffRule.ignoreDescriptionChanges,
    DiffRule.simplifyChanges,
  ]);
  const reasons = new Map(declarations.map(({ path, reason }) => [path, reason]));
  const ofLevel = (level: CriticalityLevel) => changes.filter(({ criticality }) => criticality.level === level);
  const breaking = ofLevel(CriticalityLevel.Breaking);
  const reasonOf = ({ path = '' }: Change) => reasons.get(path);
  return {
    breaking: breaking.filter((change) => reasonOf(change) === undefined).map(tell),
    declared: breaking.filter(reasonOf).map((change) => `${tell(change)}: ${reasonOf(change)}`),
    dangerous: ofLevel(CriticalityLevel.Dangerous).map(tell),
    harmless: ofLevel(CriticalityLevel.NonBreaking).map(tell),
    idle: declarations.map(({ path }) => path).filter((path) => !breaking.some((change) => change.path === path)),
  };
}

/** Federation's directives are defined by the link, not by us, so that they are there to be compared. */
function build(sdl: string): GraphQLSchema {
  return buildSubgraphSchema({ typeDefs: parse(sdl) });
}

/** They are the link's: another version of it, or another import, changes what is defined and nothing that is used. */
const leaveOutDefinitionsOfDirectives: Rule = ({ changes }) =>
  changes.filter(({ type, path = '' }) => !/^DIRECTIVE_(?!USAGE)/.test(type) && !path.startsWith('federation__'));

/** A router that resolves by a key, or another subgraph that shares a type, stops composing without it. */
const breakComposition: Rule = ({ changes }) =>
  changes.map((change) => {
    const isBreaking = /_REMOVED$/.test(change.type) && /\.@(key|shareable)(\.|$)/.test(change.path ?? '');
    return isBreaking ? { ...change, criticality: { level: CriticalityLevel.Breaking } } : change;
  });

function tell({ path = '', message }: Change): string {
  return `${path}: ${message}`;
}
