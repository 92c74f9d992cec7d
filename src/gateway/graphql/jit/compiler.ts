import type { GraphQLSchema } from 'graphql';
import { compileOperation, type Operation, type Run } from './compile.ts';

export type Compiler = ReturnType<typeof createCompiler>;

/**
 * Compiles operations that are executed more than once, with graphql-jit: executing a look-up then takes a thirtieth of the
 * time. Compiling takes as long as a thousand executions, so at most a twentieth of the time is spent on it, however many
 * documents clients send. An operation that cannot be compiled is executed by GraphQL.js, and so are all where V8 may not
 * generate code.
 */
export function createCompiler(schema: GraphQLSchema) {
  let jit: Promise<typeof import('graphql-jit')> | undefined;
  let nextAt = 0;

  return {
    /**
     * @param addBytes called when it is compiled, with the memory of its code
     * @returns a function to call once per execution: it returns the compiled operation, or null until it is compiled
     */
    register(operation: Operation, addBytes: (bytes: number) => void): () => Run | null {
      let wasExecuted = false;
      /** Undefined: to be compiled. Null: it is being compiled, or cannot be. */
      let run: Run | null | undefined;

      return () => {
        if (run !== undefined) return run;
        if (!wasExecuted) wasExecuted = true;
        else if (performance.now() >= nextAt) {
          run = null;
          // After the response, which should not wait for it.
          setImmediate(() => compileInTurn().catch(() => {}));
        }
        return null;
      };

      async function compileInTurn(): Promise<void> {
        jit ??= import('graphql-jit');
        const { compileQuery } = await jit;
        // Others may have been compiled while this one waited.
        if (performance.now() < nextAt) {
          run = undefined;
          return;
        }
        const startedAt = performance.now();
        const compiled = compileOperation(schema, operation, compileQuery);
        nextAt = performance.now() + 20 * (performance.now() - startedAt);
        if (compiled === null) return;
        run = compiled.run;
        addBytes(compiled.bytes);
      }
    },
  };
}
