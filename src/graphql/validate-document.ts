import { type DocumentNode, GraphQLError, type GraphQLSchema, specifiedRules, validate } from 'graphql';
import { limitAliases, limitIntrospectionAliases } from './limit-aliases.ts';
import { limitDirectives } from './limit-directives.ts';
import { mergeRules } from './merge-rules.ts';

/** The errors of a document by the rules of GraphQL and of the gateway. A rule that throws one ends the validation. */
export function validateDocument(schema: GraphQLSchema, document: DocumentNode): readonly GraphQLError[] {
  try {
    return validate(schema, document, rules);
  } catch (error) {
    if (error instanceof GraphQLError) return [error];
    throw error;
  }
}

const rules = [mergeRules([limitDirectives, ...specifiedRules, limitIntrospectionAliases, limitAliases])];
