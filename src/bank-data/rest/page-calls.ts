/** Counts a call for a page of banks that other pages of the same request may need as well; false if none is left. */
export type CountPageCall = (request: object) => boolean;

/** Each call is paid for, and a request may contain 20 pages. */
export function createPageCallLimit(): CountPageCall {
  const counts = new WeakMap<object, number>();
  return (request) => {
    const count = (counts.get(request) ?? 0) + 1;
    counts.set(request, count);
    return count <= maxCalls;
  };
}

/** As many as one page may make besides its first one, which is not counted, nor is the one that finds its range. */
const maxCalls = 9;
