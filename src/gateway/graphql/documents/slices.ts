import {
  defaultFieldResolver,
  type GraphQLFieldResolver,
  type GraphQLSchema,
  getNamedType,
  isCompositeType,
  isObjectType,
} from 'graphql';
import type { TimeSlices } from '../../../base/async/time-slices.ts';
import type { RunContext } from '../jit/compiler.ts';

type Resolve = GraphQLFieldResolver<unknown, RunContext>;

/**
 * Changes the resolvers of a schema, so that large operations are completed in time slices. Executors complete all objects without a pause, but wait for those that are
 * promises: when a slice is over, each further object is one. Fields without a resolver get none, so that compiled operations
 * read them directly, of which each item has less than a thousand; in GraphQL.js, they are resolved by `resolveInSlices`.
 */
export function addTimeSlices(schema: GraphQLSchema): void {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith('__')) continue;
    for (const field of Object.values(type.getFields())) {
      if (field.resolve && isCompositeType(getNamedType(field.type))) field.resolve = handOverInSlices(field.resolve);
    }
  }
}

/** The resolver of fields without one, in large operations. */
export const resolveInSlices: Resolve = (source, args, context, info) => {
  const value = defaultFieldResolver(source, args, context, info);
  const isComposite = typeof value === 'object' && isCompositeType(getNamedType(info.returnType));
  return isComposite && context.slices !== null ? inSlices(value, context.slices) : value;
};

function handOverInSlices(resolve: Resolve): Resolve {
  return (source, args, context, info) => {
    const result = resolve(source, args, context, info);
    return context.slices === null ? result : inSlices(result, context.slices);
  };
}

/** @param result an object or a list of objects, an Error in place of one, or a promise */
function inSlices(result: unknown, slices: TimeSlices): unknown {
  if (result instanceof Promise) return result.then((value) => inSlices(value, slices));
  if (Array.isArray(result)) return eachInSlices(result, slices);
  return slices.isOver() && typeof result === 'object' && result !== null ? slices(() => result) : result;
}

/** Executors request an item when they have completed the one before. */
function* eachInSlices(items: readonly unknown[], slices: TimeSlices): Generator<unknown> {
  for (const item of items) yield slices.isOver() ? slices(() => item) : item;
}
