/**
 * Resolves the items of a list. A failed item resolves to its error, which executors report as a failure of the item:
 * graphql-jit moves rejected items to the end of the list.
 */
export function settleItems<Input, Item>(
  inputs: readonly Input[],
  resolve: (input: Input) => Item | Promise<Item>,
): (Item | Promise<Item>)[] {
  return inputs.map((input) => {
    try {
      const item = resolve(input);
      return item instanceof Promise ? item.catch(toItem<Item>) : item;
    } catch (error) {
      return toItem<Item>(error);
    }
  });
}

/** Executors accept an error in place of any item. */
function toItem<Item>(error: unknown): Item {
  return error as Item;
}
