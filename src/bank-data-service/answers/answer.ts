import * as z from 'zod';

/** Problems by parameter. */
export const rejectionSchema = z.object({
  message: z.string(),
  errors: z.record(z.string(), z.array(z.string()).readonly()).readonly(),
});

type Rejection = z.infer<typeof rejectionSchema>;

export type Answer<Body> = { status: 200; body: Body } | { status: 422; body: Rejection };

/** Parameters as received; a repeated one is a list. */
export type Query = Readonly<Record<string, unknown>>;

export function answer<Body>(body: Body): Answer<Body> {
  return { status: 200, body };
}

export function reject(errors: Rejection['errors']): Answer<never> {
  return { status: 422, body: { message: Object.values(errors).flat().join(' '), errors } };
}

/** The trimmed text of a parameter, `''` if it is absent; null if it is repeated. */
export function readText(query: Query, name: string): string | null {
  const value = query[name] ?? '';
  return typeof value === 'string' ? value.trim() : null;
}

/** The problem of a required parameter; null if there is none. */
export function findTextProblem(text: string | null, name: string): string | null {
  if (text === null) return repeated(name);
  return text === '' ? `${name} is missing.` : null;
}

export function repeated(name: string): string {
  return `${name} must be given only once.`;
}
