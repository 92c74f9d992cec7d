/** How often something random is tried: `.ci/run` multiplies it with TEST_ROUNDS. */
export function rounds(count: number): number {
  return count * Number(process.env.TEST_ROUNDS ?? 1);
}
