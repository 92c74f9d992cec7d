import { z } from 'zod';

/** What cannot be answered, parameter by parameter. */
export const rejectionSchema = z.object({
  message: z.string(),
  errors: z.record(z.string(), z.array(z.string()).readonly()).readonly(),
});

export type Rejection = z.infer<typeof rejectionSchema>;

export type Answer<Body> = { status: 200; body: Body } | { status: 422; body: Rejection };

/** Parameters as they were sent; a list where one was repeated. */
export type Query = Readonly<Record<string, unknown>>;

export function answer<Body>(body: Body): Answer<Body> {
  return { status: 200, body };
}

export function reject(errors: Rejection['errors']): Answer<never> {
  return { status: 422, body: { message: Object.values(errors).flat().join(' '), errors } };
}

/** A parameter's text without the space around it, `''` where it is absent; null where it was given more than once. */
export function readText(query: Query, name: string): string | null {
  const value = query[name] ?? '';
  return typeof value === 'string' ? value.trim() : null;
}

/** What is wrong with a parameter that has to be given once, where something is. */
export function complainOfText(text: string | null, name: string): string | null {
  if (text === null) return `${name} must be given only once.`;
  return text === '' ? `${name} is missing.` : null;
}
