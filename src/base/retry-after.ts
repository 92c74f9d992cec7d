/**
 * The date of a `Retry-After` header: seconds from now or an HTTP date (RFC 9110, section 10.2.3). Null when it is neither, or
 * missing. At most 31 days from now, as allowances are monthly: a date further away is wrong.
 */
export function readRetryAfter(header: string | string[] | undefined): Date | null {
  const value = (Array.isArray(header) ? header[0] : header)?.trim() ?? '';
  const now = Date.now();
  // Date.parse alone finds a date in almost anything, even in "-5".
  const date = value.endsWith('GMT') ? Date.parse(value) : Number.NaN;
  const at = /^\d+$/.test(value) ? now + Number(value) * 1_000 : date;
  return Number.isNaN(at) ? null : new Date(Math.min(Math.max(now, at), now + maxWaitMs));
}

const maxWaitMs = 31 * 86_400_000;
