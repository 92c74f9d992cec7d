/**
 * The body of a successful essay answer is not documented, and it was paid for: whatever its envelope, the text is
 * looked for in this order: a configured field, the well-known names, a bare string, the longest string anywhere.
 * Answers null when there is no text at all, or none but an error's.
 */
export function readEssayText(body: unknown, textField: string | null): string | null {
  const configured = textField === null ? null : readText(follow(body, textField.split('.')));
  return configured ?? readWellKnown(body) ?? readText(body) ?? findLongestText(body);
}

/** What an error body says, wherever the service or a reseller of it puts the words; null when it says nothing. */
export function readErrorMessage(body: unknown): string | null {
  const [firstOfErrors] = Object.values((property(body, 'errors') as object | undefined) ?? {}).flat();
  const candidates = [
    property(body, 'error'),
    follow(body, ['error', 'message']),
    property(body, 'message'),
    firstOfErrors,
  ];
  return candidates.map(readText).find((text) => text !== null) ?? null;
}

/** No envelope is deeper; a body that is must not exhaust the stack. */
const maxDepth = 50;
const wellKnownNames = ['essay', 'result', 'text', 'content'];

function readWellKnown(body: unknown): string | null {
  const data = property(body, 'data');
  const candidates = [...wellKnownNames.map((name) => property(body, name)), data];
  candidates.push(...wellKnownNames.map((name) => property(data, name)));
  return candidates.map(readText).find((text) => text !== null) ?? null;
}

function findLongestText(body: unknown, depth = 0): string | null {
  if (typeof body === 'string') return readText(body);
  if (typeof body !== 'object' || body === null || depth > maxDepth) return null;
  const texts = Object.entries(body)
    .filter(([name]) => name !== 'error' && name !== 'errors')
    .map(([, value]) => findLongestText(value, depth + 1));
  return texts.reduce((longest, text) => ((text?.length ?? 0) > (longest?.length ?? 0) ? text : longest), null);
}

function follow(body: unknown, path: readonly string[]): unknown {
  return path.reduce(property, body);
}

function property(body: unknown, name: string): unknown {
  return typeof body === 'object' && body !== null ? Reflect.get(body, name) : undefined;
}

function readText(value: unknown): string | null {
  return typeof value === 'string' && value.trim() !== '' ? value : null;
}
