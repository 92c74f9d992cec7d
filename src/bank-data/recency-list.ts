import { grow } from './columns.ts';

/** The order in which slots were last used. */
export interface RecencyList {
  /** Adds a slot as the most recently used one. It must not be in the list. */
  add(slot: number): void;
  /** Removes a slot that is in the list. */
  remove(slot: number): void;
  /** The least recently used slot; -1 if there is none. */
  oldest(): number;
}

/**
 * A linked list in one column: objects would be the garbage collector's work.
 * @param slots for which there is room at first
 */
export function createRecencyList(slots: number): RecencyList {
  // At 2n + 2 and 2n + 3, the positions of the next newer and the next older slot of slot n. Position 0 is both ends.
  let links = new Int32Array(2 * slots + 2);

  function link(older: number, newer: number): void {
    links[older] = newer;
    links[newer + 1] = older;
  }

  return {
    add(slot) {
      const position = 2 * slot + 2;
      if (position >= links.length) links = grow(links, position + 2);
      const newest = links[1] as number;
      link(newest, position);
      link(position, 0);
    },
    remove(slot) {
      const position = 2 * slot + 2;
      link(links[position + 1] as number, links[position] as number);
    },
    oldest: () => ((links[0] as number) >> 1) - 1,
  };
}
