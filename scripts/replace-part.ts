/** Replaces what follows the first group of the pattern. */
export function replacePart(text: string, pattern: RegExp, part: string): string {
  readPart(text, pattern);
  return text.replace(pattern, (_, before: string) => before + part);
}

/** What the first group of the pattern matches. @throws if it does not match */
export function readPart(text: string, pattern: RegExp): string {
  const part = pattern.exec(text)?.[1];
  if (part === undefined) throw new Error(`${pattern} must match the text that begins with: ${text.slice(0, 80)}`);
  return part;
}
