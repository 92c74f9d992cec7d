/**
 * Resolves each item separately: an item that fails is an Error at its position, which executors accept in place of any
 * item. Returns one promise, since the executor keeps half a kilobyte for each that it waits for; `Promise.all` would need
 * another promise for each item, to catch its error.
 */
export function settleItems<Input, Item>(
  inputs: readonly Input[],
  resolve: (input: Input) => Item | Promise<Item>,
): Promise<Item[]> {
  return new Promise((onSettled) => {
    const items = new Array<Item>(inputs.length);
    let missing = inputs.length;
    const settle = (index: number, result: unknown) => {
      items[index] = result as Item;
      missing -= 1;
      if (missing === 0) onSettled(items);
    };
    if (missing === 0) onSettled(items);
    inputs.forEach((input, index) => {
      try {
        const item = resolve(input);
        if (item instanceof Promise) {
          item.then(
            (answer) => settle(index, answer),
            (error) => settle(index, error),
          );
        } else settle(index, item);
      } catch (error) {
        settle(index, error);
      }
    });
  });
}
