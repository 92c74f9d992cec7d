import { buildSubgraphSchema } from '@apollo/subgraph';
import { type Change, CriticalityLevel, DiffRule, diff, type Rule } from '@graphql-inspector/core';
import { type GraphQLSchema, parse } from 'graphql';

/** An intended breaking change. */
export interface Declaration {
  /** As the check reports it: `BankData.zip`, `Query.banks.first`. */
  path: string;
  reason: string;
}

export interface SchemaChanges {
  /** Breaking changes without a declaration. */
  breaking: string[];
  declared: string[];
  /** Breaks clients that do not expect new values, such as a switch without a default. */
  dangerous: string[];
  harmless: string[];
  /** Paths of declarations without a breaking change. */
  unmatched: string[];
}

/** The changes between two subgraphs in SDL, by their effect on clients and on composition. */
export async function findSchemaChanges(
  released: string,
  present: string,
  declarations: readonly Declaration[],
): Promise<SchemaChanges> {
  const changes = await diff(build(released), build(present), [
    ignoreDirectiveDefinitions,
    markCompositionBreaks,
    DiffRule.ignoreDescriptionChanges,
    putInterfacesLast,
    DiffRule.simplifyChanges,
  ]);
  const reasons = new Map(declarations.map(({ path, reason }) => [path, reason]));
  const ofLevel = (level: CriticalityLevel) => changes.filter(({ criticality }) => criticality.level === level);
  const breaking = ofLevel(CriticalityLevel.Breaking);
  const reasonOf = ({ path = '' }: Change) => reasons.get(path);
  return {
    breaking: breaking.filter((change) => reasonOf(change) === undefined).map(describe),
    declared: breaking.filter(reasonOf).map((change) => `${describe(change)}: ${reasonOf(change)}`),
    dangerous: ofLevel(CriticalityLevel.Dangerous).map(describe),
    harmless: ofLevel(CriticalityLevel.NonBreaking).map(describe),
    unmatched: declarations.map(({ path }) => path).filter((path) => !breaking.some((change) => change.path === path)),
  };
}

/** Adds Federation's directives, which the SDL links without defining them. */
function build(sdl: string): GraphQLSchema {
  return buildSubgraphSchema({ typeDefs: parse(sdl) });
}

/** The link defines them: another version or import of it changes definitions, but no use. */
const ignoreDirectiveDefinitions: Rule = ({ changes }) =>
  changes.filter(({ type, path = '' }) => !/^DIRECTIVE_(?!USAGE)/.test(type) && !path.startsWith('federation__'));

/** Without its key or its @shareable, a type no longer composes with other subgraphs. */
const markCompositionBreaks: Rule = ({ changes }) =>
  changes.map((change) => {
    const isBreaking = /_REMOVED$/.test(change.type) && /\.@(key|shareable)(\.|$)/.test(change.path ?? '');
    return isBreaking ? { ...change, criticality: { level: CriticalityLevel.Breaking } } : change;
  });

/** `simplifyChanges` hides what follows in the path of an addition; an interface is added to the path of its type. */
const putInterfacesLast: Rule = ({ changes }) => {
  const isInterface = ({ type }: Change) => type === 'OBJECT_TYPE_INTERFACE_ADDED';
  return [...changes.filter((change) => !isInterface(change)), ...changes.filter(isInterface)];
};

function describe({ path = '', message }: Change): string {
  return `${path}: ${message}`;
}
