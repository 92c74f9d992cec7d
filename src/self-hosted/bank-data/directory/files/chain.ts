/** The items that were already read, then the rest. */
export async function* chain<Item>(first: Iterable<Item>, rest: AsyncIterator<Item>): AsyncGenerator<Item> {
  yield* first;
  for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value;
}
