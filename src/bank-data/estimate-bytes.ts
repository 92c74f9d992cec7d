/** Memory of a JSON value, roughly, in bytes. Serializing it would cost more than everything else that a cache does. */
export function estimateBytes(value: unknown): number {
  if (typeof value === 'string') return bytesPerValue + 2 * value.length;
  if (typeof value !== 'object' || value === null) return bytesPerValue;
  let bytes = bytesPerValue;
  for (const name in value) bytes += estimateBytes((value as Record<string, unknown>)[name]);
  return bytes;
}

const bytesPerValue = 32;
