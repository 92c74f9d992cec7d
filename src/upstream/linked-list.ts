export interface ListNode<Value> {
  readonly value: Value;
  /** Removes the node from its list. @returns false if it was removed before */
  remove(): boolean;
}

/** A list that appends and removes in constant time, also in its middle; an array or a `Map` does not. */
export interface LinkedList<Value> {
  append(value: Value): ListNode<Value>;
  first(): ListNode<Value> | null;
  last(): ListNode<Value> | null;
}

export function createLinkedList<Value>(): LinkedList<Value> {
  const nodes = { first: null as Links<Value> | null, last: null as Links<Value> | null };
  return {
    append(value) {
      const node: Links<Value> = {
        value,
        previous: nodes.last,
        next: null,
        isListed: true,
        remove: () => unlink(node),
      };
      if (nodes.last) nodes.last.next = node;
      else nodes.first = node;
      nodes.last = node;
      return node;
    },
    first: () => nodes.first,
    last: () => nodes.last,
  };

  function unlink(node: Links<Value>): boolean {
    if (!node.isListed) return false;
    node.isListed = false;
    if (node.previous) node.previous.next = node.next;
    else nodes.first = node.next;
    if (node.next) node.next.previous = node.previous;
    else nodes.last = node.previous;
    // A removed node that the garbage collector has moved to the old generation would keep all later nodes alive.
    node.previous = null;
    node.next = null;
    return true;
  }
}

interface Links<Value> extends ListNode<Value> {
  previous: Links<Value> | null;
  next: Links<Value> | null;
  isListed: boolean;
}
