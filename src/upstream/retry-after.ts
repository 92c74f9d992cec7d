/**
 * When a `Retry-After` header says to come again: seconds from now or an HTTP date (RFC 9110, section 10.2.3).
 * Null when it is absent or says nothing readable.
 */
export function readRetryAfter(header: string | string[] | undefined, now: Date): Date | null {
  const value = (Array.isArray(header) ? header[0] : header)?.trim() ?? '';
  if (/^\d{1,9}$/.test(value)) return new Date(now.getTime() + Number(value) * 1_000);
  // Date.parse alone would find a date in almost anything, in "-5" too.
  const at = value.endsWith('GMT') ? Date.parse(value) : Number.NaN;
  return Number.isNaN(at) ? null : new Date(at);
}
