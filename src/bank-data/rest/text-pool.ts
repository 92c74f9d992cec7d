/** Returns the first of all equal texts that it has received. */
export type PoolText = <Text extends string | null>(text: Text) => Text;

/**
 * Keeps texts that many answers contain, so that those in the cache share them.
 * @param maxTexts when there are more, the pool is emptied
 */
export function createTextPool(maxTexts: number): PoolText {
  const texts = new Map<string, string>();
  return (text) => {
    if (text === null || text.length > maxPooledLength) return text;
    const known = texts.get(text);
    if (known !== undefined) return known as typeof text;
    if (texts.size >= maxTexts) texts.clear();
    texts.set(text, text);
    return text;
  };
}

/** The names and formats of countries and banks are shorter. */
export const maxPooledLength = 100;
