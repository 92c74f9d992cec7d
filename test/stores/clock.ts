/** A clock that stands still until it is told. */
export function tClock() {
  let time = Date.UTC(2026, 10, 21);
  return {
    now: () => time,
    pass: async (ms: number) => {
      time += ms;
    },
  };
}
