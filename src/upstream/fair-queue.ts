import { createLinkedList, type LinkedList, type ListNode } from './linked-list.ts';

export interface FairQueue<Item> {
  size(): number;
  /**
   * Adds an item. If the queue is full, it replaces the last item of the key with the most items.
   * @returns a function that removes it, or null if the queue is full and no key has more items than this one
   */
  push(key: object, item: Item): (() => void) | null;
  /** Removes the next item: the keys take turns, and the items of one key are in order. */
  shift(): Item | undefined;
}

interface FairQueueOptions<Item> {
  maxSize: number;
  onEvicted: (item: Item) => void;
}

/** The items of one key. */
interface ItemGroup<Item> {
  key: object;
  items: LinkedList<Item>;
  length: number;
  turn: ListNode<ItemGroup<Item>> | null;
  /** Its place among the groups of the same length. */
  rank: ListNode<ItemGroup<Item>> | null;
}

/** All operations take constant time, however many items and keys there are. */
export function createFairQueue<Item>({ maxSize, onEvicted }: FairQueueOptions<Item>): FairQueue<Item> {
  const groups = new Map<object, ItemGroup<Item>>();
  const turns = createLinkedList<ItemGroup<Item>>();
  /** Groups by length. Lengths change by one, so the longest is found without a search. */
  const ranks: LinkedList<ItemGroup<Item>>[] = [];
  let longest = 0;
  let size = 0;

  return {
    size: () => size,
    push(key, item) {
      const known = groups.get(key);
      if (size >= maxSize && !evictFor(known)) return null;
      const group = known ?? createGroup(key);
      const node = group.items.append(item);
      resize(group, 1);
      return () => remove(group, node);
    },
    shift() {
      const turn = turns.first();
      const node = turn?.value.items.first();
      if (!turn || !node) return undefined;
      const group = turn.value;
      turn.remove();
      remove(group, node);
      if (group.length > 0) group.turn = turns.append(group);
      return node.value;
    },
  };

  function createGroup(key: object): ItemGroup<Item> {
    const group: ItemGroup<Item> = { key, items: createLinkedList(), length: 0, turn: null, rank: null };
    group.turn = turns.append(group);
    groups.set(key, group);
    return group;
  }

  /** Only if the group is then still not longer than the one that loses an item. */
  function evictFor(group: ItemGroup<Item> | undefined): boolean {
    const victim = ranks[longest]?.first()?.value;
    const node = victim?.items.last();
    if (!victim || !node || longest <= (group?.length ?? 0) + 1) return false;
    remove(victim, node);
    onEvicted(node.value);
    return true;
  }

  function remove(group: ItemGroup<Item>, node: ListNode<Item>): void {
    if (node.remove()) resize(group, -1);
  }

  function resize(group: ItemGroup<Item>, change: 1 | -1): void {
    group.rank?.remove();
    group.length += change;
    size += change;
    if (group.length === 0) {
      group.turn?.remove();
      groups.delete(group.key);
    } else {
      ranks[group.length] ??= createLinkedList();
      group.rank = ranks[group.length]?.append(group) ?? null;
    }
    if (group.length > longest) longest = group.length;
    else if (!ranks[longest]?.first()) longest -= 1;
  }
}
