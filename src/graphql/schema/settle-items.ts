/**
 * Resolves the items of a list. A failed item resolves to its error, which executors report as a failure of the item:
 * graphql-jit moves rejected items to the end of the list.
 */
export function settleItems<Input, Item>(
  inputs: readonly Input[],
  resolve: (input: Input) => Item | Promise<Item>,
): Promise<Item>[] {
  return inputs.map(async (input) => {
    try {
      return await resolve(input);
    } catch (error) {
      return error as never;
    }
  });
}
