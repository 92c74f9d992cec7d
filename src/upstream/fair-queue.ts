import { createLinkedList, type LinkedList, type ListNode } from './linked-list.ts';

export interface FairQueue<Item> {
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
interface Lane<Item> {
  key: object;
  items: LinkedList<Item>;
  length: number;
  turn: ListNode<Lane<Item>> | null;
  /** Its place among the lanes of the same length. */
  rank: ListNode<Lane<Item>> | null;
}

/** All operations take constant time, however many items and keys there are. */
export function createFairQueue<Item>({ maxSize, onEvicted }: FairQueueOptions<Item>): FairQueue<Item> {
  const lanes = new Map<object, Lane<Item>>();
  const turns = createLinkedList<Lane<Item>>();
  /** Lanes by length. Lengths change by one, so the longest is found without a search. */
  const ranks: LinkedList<Lane<Item>>[] = [];
  let longest = 0;
  let size = 0;

  return {
    push(key, item) {
      const known = lanes.get(key);
      if (size >= maxSize && !evictFor(known)) return null;
      const lane = known ?? createLane(key);
      const node = lane.items.append(item);
      resize(lane, 1);
      return () => remove(lane, node);
    },
    shift() {
      const turn = turns.first();
      const node = turn?.value.items.first();
      if (!turn || !node) return undefined;
      const lane = turn.value;
      turn.remove();
      remove(lane, node);
      if (lane.length > 0) lane.turn = turns.append(lane);
      return node.value;
    },
  };

  function createLane(key: object): Lane<Item> {
    const lane: Lane<Item> = { key, items: createLinkedList(), length: 0, turn: null, rank: null };
    lane.turn = turns.append(lane);
    lanes.set(key, lane);
    return lane;
  }

  /** Only if the lane is then still not longer than the one that loses an item. */
  function evictFor(lane: Lane<Item> | undefined): boolean {
    const victim = ranks[longest]?.first()?.value;
    const node = victim?.items.last();
    if (!victim || !node || longest <= (lane?.length ?? 0) + 1) return false;
    remove(victim, node);
    onEvicted(node.value);
    return true;
  }

  function remove(lane: Lane<Item>, node: ListNode<Item>): void {
    if (node.remove()) resize(lane, -1);
  }

  function resize(lane: Lane<Item>, change: 1 | -1): void {
    lane.rank?.remove();
    lane.length += change;
    size += change;
    if (lane.length === 0) {
      lane.turn?.remove();
      lanes.delete(lane.key);
    } else {
      ranks[lane.length] ??= createLinkedList();
      lane.rank = ranks[lane.length]?.append(lane) ?? null;
    }
    if (lane.length > longest) longest = lane.length;
    else if (!ranks[longest]?.first()) longest -= 1;
  }
}
