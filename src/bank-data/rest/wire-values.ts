import { z } from 'zod';

/*
 * Single values of a response, read tolerantly: absent, null and "" are the same; a number or boolean where text is
 * expected becomes text; a value of any other type is treated as absent.
 */

export const text = z
  .union([z.string(), z.number(), z.boolean()])
  .nullish()
  .catch(null)
  .transform((value) => {
    const trimmed = String(value ?? '').trim();
    return trimmed === '' ? null : trimmed;
  });

export const flag = text.transform((value) => {
  if (/^(true|yes|1)$/i.test(value ?? '')) return true;
  if (/^(false|no|0)$/i.test(value ?? '')) return false;
  return null;
});

export const count = text.transform((value) => (/^\d{1,15}$/.test(value ?? '') ? Number(value) : null));

/** An object of such values; null where it is absent, written as [] (an empty array in PHP), or holds nulls only. */
export function optionalObject<Shape extends z.ZodRawShape>(shape: Shape) {
  return z
    .object(shape)
    .nullish()
    .catch(null)
    .transform((record) => {
      if (!record || Object.values(record).every((value) => value === null)) return null;
      return record;
    });
}
