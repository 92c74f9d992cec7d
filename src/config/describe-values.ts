import type * as z from 'zod';

/** Whether the value of a variable must not be printed: it can also be in a file, or its name says so. */
function isSecretVariable(shape: z.ZodRawShape, name: string): boolean {
  return `${name}_FILE` in shape || /_(KEYS?|SECRET|PASSWORD|HEADERS)$/.test(name);
}

/** A function that quotes the value of a variable for a message; null if it is, or may contain, a secret. */
export function createQuote(
  shape: z.ZodRawShape,
  values: Readonly<Record<string, string | undefined>>,
): (name: string) => string | null {
  const secrets = Object.keys(shape).flatMap((name) => (isSecretVariable(shape, name) && values[name]) || []);
  return (name) => {
    const value = values[name];
    if (value === undefined || isSecretVariable(shape, name)) return null;
    // A secret, or a part of one, that was assigned to the wrong variable, too, or the password in a URL.
    const isSecret = (secret: string) => value.includes(secret) || (value.length >= 8 && secret.includes(value));
    if (secrets.some(isSecret) || /:\/\/[^/]*@|\?/.test(value)) return null;
    return JSON.stringify(value.length > maxQuotedLength ? `${value.slice(0, maxQuotedLength)}...` : value);
  };
}

/** One problem per variable: its first issue, because a wrong value may have several. */
export function describeIssues(issues: readonly z.core.$ZodIssue[], quote: (name: string) => string | null): string[] {
  const problems = new Map<string, string>();
  for (const { path, message } of issues) {
    const name = String(path[0]);
    const value = quote(name);
    if (!problems.has(name)) problems.set(name, `${name}: ${message}${value === null ? '' : `, but is ${value}`}`);
  }
  return [...problems.values()];
}

const maxQuotedLength = 80;
