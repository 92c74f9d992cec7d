/**
 * Resolves each item separately: an item that fails is an Error at its position, which executors accept in place of any
 * item. One promise for all of them, as the executor keeps half a kilobyte for each promise that it waits for.
 */
export function settleItems<Input, Item>(
  inputs: readonly Input[],
  resolve: (input: Input) => Item | Promise<Item>,
): Promise<Item[]> {
  return new Promise((resolveAll) => {
    const items: Item[] = [];
    let missing = inputs.length;
    const settle = (index: number, item: unknown) => {
      items[index] = item as Item;
      missing -= 1;
      if (missing === 0) resolveAll(items);
    };
    if (missing === 0) resolveAll(items);
    inputs.forEach((input, index) => {
      try {
        const item = resolve(input);
        if (item instanceof Promise) {
          item.then(
            (item) => settle(index, item),
            (error) => settle(index, error),
          );
        } else settle(index, item);
      } catch (error) {
        settle(index, error);
      }
    });
  });
}
