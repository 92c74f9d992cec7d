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
    return this.#insertAfter(list.last, list);
  }

  /** Adds it to an ordered list. The search begins at the end, where most are added. */
  insertInto(list: LinkedList<Value>, isInOrder: (other: Value, value: Value) => boolean): this {
    this.remove();
    let previous = list.last;
    while (previous !== null && !isInOrder(previous.value, this.value)) previous = previous.#previous;
    return this.#insertAfter(previous, list);
  }

  #insertAfter(previous: ListNode<Value> | null, list: LinkedList<Value>): this {
    const next = previous === null ? list.first : previous.#next;
    this.#list = list;
    this.#previous = previous;
    this.#next = next;
    if (previous === null) list.first = this;
    else previous.#next = this;
    if (next === null) list.last = this;
    else next.#previous = this;
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
