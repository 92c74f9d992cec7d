import type { Signal } from '../../async/signal.ts';

/**
 * Resolves each item separately: an item that fails is an Error at its position, which executors accept in place of any
 * item. Rejects once the client has left, instead of with an error for each item. Returns one promise, since the executor
 * keeps half a kilobyte for each that it waits for. It waits for one item after the other: to wait for all at once, a list of
 * look-ups would keep two functions for each of them until the last answer.
 */
export async function settleItems<Input, Item>(
  inputs: readonly Input[],
  resolve: (input: Input) => Item | Promise<Item>,
  signal: Signal,
): Promise<Item[]> {
  const items = inputs.map((input) => begin(resolve, input));
  for (let index = 0; index < items.length; index += 1) {
    const item = items[index];
    if (!(item instanceof Promise)) continue;
    try {
      items[index] = await item;
    } catch (error) {
      if (signal.aborted) throw error;
      items[index] = error as Item;
    }
  }
  return items as Item[];
}

function begin<Input, Item>(resolve: (input: Input) => Item | Promise<Item>, input: Input): Item | Promise<Item> {
  try {
    const item = resolve(input);
    // It may fail before its turn.
    if (item instanceof Promise) item.catch(ignore);
    return item;
  } catch (error) {
    return error as Item;
  }
}

function ignore(): void {}
