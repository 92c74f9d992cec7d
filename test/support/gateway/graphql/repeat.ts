/** The texts for the numbers from 0 on, joined. */
export function repeat(count: number, create: (index: number) => string, separator = ' '): string {
  return Array.from({ length: count }, (_, index) => create(index)).join(separator);
}
