import {
  type DocumentNode,
  type ExecutionResult,
  type FragmentDefinitionNode,
  GraphQLError,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from 'graphql';
import { withAttachedSource } from './document-source.ts';

/** Executes a compiled operation. Expects variables that were coerced. */
type Run = (contextValue: unknown, variables: unknown) => ExecutionResult | Promise<ExecutionResult>;

interface Compilable {
  document: DocumentNode;
  definition: OperationDefinitionNode;
  fragments: ReadonlyMap<string, FragmentDefinitionNode>;
}

export interface Compiler {
  /** @returns a function to call once per execution: it returns the compiled operation, or null until it is compiled */
  register(operation: Compilable): () => Run | null;
}

/**
 * Compiles operations that are executed more than once, with graphql-jit: executing one then takes a sixth of the time.
 * Compiling takes about 13 ms, so at most a twentieth of the time is spent on it, however many documents clients send. An
 * operation that cannot be compiled is executed by GraphQL.js, and so are all where V8 may not generate code.
 */
export function createCompiler(schema: GraphQLSchema): Compiler {
  let jit: Promise<typeof import('graphql-jit')> | undefined;
  let nextAt = 0;

  return {
    register(operation) {
      let executions = 0;
      let run: Run | null = null;
      let isDecided = false;
      return () => {
        if (isDecided) return run;
        executions += 1;
        if (executions > 1 && performance.now() >= nextAt) {
          isDecided = true;
          // After the response, which should not wait for it.
          setImmediate(() => void compileInTurn());
        }
        return null;
      };

      async function compileInTurn(): Promise<void> {
        if (!isCompilable(operation)) return;
        jit ??= import('graphql-jit');
        const { compileQuery } = await jit;
        // Others may have been compiled while this one waited.
        if (performance.now() < nextAt) {
          isDecided = false;
          return;
        }
        const startedAt = performance.now();
        run = compile(operation, compileQuery);
        nextAt = performance.now() + 20 * (performance.now() - startedAt);
      }
    },
  };

  function compile({ document, definition }: Compilable, compileQuery: typeof import('graphql-jit').compileQuery) {
    const options = { disablingCapturingStackErrors: true };
    const compiled = withAttachedSource(document, () =>
      compileQuery(schema, document, definition.name?.value, options),
    );
    if (!('query' in compiled)) return null;
    return (contextValue: unknown, variables: unknown) => {
      const result = compiled.query(undefined, contextValue, variables as Record<string, unknown>);
      return 'then' in result ? result.then(markFaults) : markFaults(result);
    };
  }
}

/**
 * Excludes introspection, which is rare, operations whose fragments expand to very many fields, and the only name that
 * is not an ordinary property of the objects that graphql-jit creates.
 */
function isCompilable({ definition, fragments }: Compilable): boolean {
  const known = new Map<string, number>();
  return countFields(definition.selectionSet) <= maxFields;

  function countFields({ selections }: SelectionSetNode): number {
    let fields = 0;
    for (const selection of selections) {
      if (selection.kind === Kind.FRAGMENT_SPREAD) fields += countOfFragment(selection.name.value);
      else if (selection.kind === Kind.FIELD && isExcluded(selection.alias?.value ?? selection.name.value))
        return Infinity;
      else fields += 1 + (selection.selectionSet ? countFields(selection.selectionSet) : 0);
    }
    return fields;
  }

  function countOfFragment(name: string): number {
    const fragment = fragments.get(name);
    const count = known.get(name) ?? (fragment ? countFields(fragment.selectionSet) : 0);
    known.set(name, count);
    return count;
  }
}

function isExcluded(name: string): boolean {
  return name === '__proto__' || name === '__schema' || name === '__type';
}

const maxFields = 500;

/** GraphQL.js wraps faults of the server in an `originalError`, as it does errors of resolvers; graphql-jit does not. */
function markFaults(result: ExecutionResult): ExecutionResult {
  if (result.errors === undefined) return result;
  return { ...result, errors: result.errors.map(markFault) };
}

function markFault(error: GraphQLError): GraphQLError {
  if (error.originalError || error.message.startsWith('Argument "')) return error;
  const { message, path, locations } = error;
  const fault = new GraphQLError(message, { path: path ?? null, originalError: new Error(message) });
  return Object.assign(fault, { locations });
}
