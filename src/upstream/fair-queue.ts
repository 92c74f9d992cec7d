import { createLinkedList, type LinkedList, ListNode } from './linked-list.ts';

export interface FairQueue<Item> {
  size(): number;
  /** Number of keys with more than one item. */
  lists(): number;
  /**
   * Adds an item. If the queue is full, it replaces the last item of the key with the most items.
   * @returns its place, or null if the queue is full and no key has more items than this one
   */
  push(key: object, item: Item): Place<Item> | null;
  /** Removes an item that may have been removed before. */
  remove(place: Place<Item>): void;
  /** Removes the next item: the keys take turns, and the items of one key are in order. */
  shift(): Item | undefined;
}

export type Place<Item> = ListNode<Queued<Item>>;

interface Queued<Item> {
  item: Item;
  group: ItemGroup<Item>;
}

interface FairQueueOptions<Item> {
  maxSize: number;
  onEvicted: (item: Item) => void;
}

/** The items of one key. */
interface ItemGroup<Item> {
  key: object;
  items: LinkedList<Queued<Item>>;
  length: number;
  turn: ListNode<ItemGroup<Item>>;
  /** Its place among the groups of the same length. */
  rank: ListNode<ItemGroup<Item>>;
}

/** All operations take constant time, however many items and keys there are. */
export function createFairQueue<Item>({ maxSize, onEvicted }: FairQueueOptions<Item>): FairQueue<Item> {
  const groups = new Map<object, ItemGroup<Item>>();
  const turns = createLinkedList<ItemGroup<Item>>();
  /** Groups by length. Lengths change by one, so the longest is found without a search. */
  const ranks: LinkedList<ItemGroup<Item>>[] = [];
  let longest = 0;
  let lists = 0;
  let size = 0;

  return {
    size: () => size,
    lists: () => lists,
    push(key, item) {
      const known = groups.get(key);
      if (size >= maxSize && !evictFor(known)) return null;
      const group = known ?? createGroup(key);
      const place = new ListNode({ item, group }).appendTo(group.items);
      resize(group, 1);
      return place;
    },
    remove,
    shift() {
      const group = turns.first?.value;
      const place = group?.items.first;
      if (!group || !place) return undefined;
      remove(place);
      if (group.length > 0) group.turn.appendTo(turns);
      return place.value.item;
    },
  };

  function createGroup(key: object): ItemGroup<Item> {
    const group = { key, items: createLinkedList<Queued<Item>>(), length: 0 } as ItemGroup<Item>;
    group.turn = new ListNode(group).appendTo(turns);
    group.rank = new ListNode(group);
    groups.set(key, group);
    return group;
  }

  /** Only if the group is then still not longer than the one that loses an item. */
  function evictFor(group: ItemGroup<Item> | undefined): boolean {
    const place = ranks[longest]?.first?.value.items.last;
    if (!place || longest <= (group?.length ?? 0) + 1) return false;
    remove(place);
    onEvicted(place.value.item);
    return true;
  }

  function remove(place: Place<Item>): void {
    if (place.remove()) resize(place.value.group, -1);
  }

  function resize(group: ItemGroup<Item>, change: 1 | -1): void {
    if (Math.max(group.length, group.length + change) === 2) lists += change;
    group.length += change;
    size += change;
    if (group.length === 0) {
      group.rank.remove();
      group.turn.remove();
      groups.delete(group.key);
    } else {
      ranks[group.length] ??= createLinkedList();
      group.rank.appendTo(ranks[group.length] as LinkedList<ItemGroup<Item>>);
    }
    if (group.length > longest) longest = group.length;
    else if (!ranks[longest]?.first) longest -= 1;
  }
}
