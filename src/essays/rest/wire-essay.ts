/**
 * The essay in the body of a successful response. The shape of the body is not documented, so these are tried in order:
 * the configured field, the well-known names, a bare string, the longest string outside `error` and `errors`.
 */
export function readEssayText(body: unknown, textField: string | null): string | null {
  const configured = textField === null ? null : readText(readPath(body, textField.split('.')));
  return configured ?? readWellKnown(body) ?? readText(body) ?? findLongestText(body);
}

/** The message of an error body, in any of the fields that the service and its resellers use. */
export function readErrorMessage(body: unknown): string | null {
  const [firstOfErrors] = Object.values((readProperty(body, 'errors') as object | undefined) ?? {}).flat();
  const candidates = [
    readProperty(body, 'error'),
    readPath(body, ['error', 'message']),
    readProperty(body, 'message'),
    firstOfErrors,
  ];
  return candidates.map(readText).find((text) => text !== null) ?? null;
}

/** Protects the stack from a deeply nested body. */
const maxDepth = 50;
const wellKnownNames = ['essay', 'result', 'text', 'content'];

function readWellKnown(body: unknown): string | null {
  const data = readProperty(body, 'data');
  const candidates = [...wellKnownNames.map((name) => readProperty(body, name)), data];
  candidates.push(...wellKnownNames.map((name) => readProperty(data, name)));
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

function readPath(body: unknown, path: readonly string[]): unknown {
  return path.reduce(readProperty, body);
}

function readProperty(body: unknown, name: string): unknown {
  return typeof body === 'object' && body !== null ? Reflect.get(body, name) : undefined;
}

function readText(value: unknown): string | null {
  return typeof value === 'string' && value.trim() !== '' ? value : null;
}
