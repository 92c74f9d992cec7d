/** A value in at most one list. A class, so that all nodes share its functions. */
export class ListNode<Value> {
  readonly value: Value;
  #list: LinkedList<Value> | null = null;
  #previous: ListNode<Value> | null = null;
  #next: ListNode<Value> | null = null;

  constructor(value: Value) {
    this.value = value;
  }

  /** Adds it at the end of a list, after removing it from the one that it is in. */
  appendTo(list: LinkedList<Value>): this {
    this.remove();
    this.#list = list;
    this.#previous = list.last;
    if (list.last) list.last.#next = this;
    else list.first = this;
    list.last = this;
    return this;
  }

  /** @returns false if it is in no list */
  remove(): boolean {
    const list = this.#list;
    if (list === null) return false;
    if (this.#previous) this.#previous.#next = this.#next;
    else list.first = this.#next;
    if (this.#next) this.#next.#previous = this.#previous;
    else list.last = this.#previous;
    this.#list = null;
    // A removed node that the garbage collector has moved to the old generation would keep all later nodes alive.
    this.#previous = null;
    this.#next = null;
    return true;
  }
}

/** A list that appends and removes in constant time, also in its middle; an array or a `Map` does not. */
export interface LinkedList<Value> {
  first: ListNode<Value> | null;
  last: ListNode<Value> | null;
}

export function createLinkedList<Value>(): LinkedList<Value> {
  return { first: null, last: null };
}
