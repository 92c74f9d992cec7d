import { z } from 'zod';

/*
 * Single values as the service writes them, read tolerantly: absent, null and "" are the same; a number or boolean
 * where text is expected is its text; what cannot be read at all is as good as absent.
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

export const count = z.coerce.number().int().nonnegative().nullish().catch(null);

/** An object of such values; null where there is none, where PHP wrote an empty one as [], or where nothing stands in it. */
export function maybe<Shape extends z.ZodRawShape>(shape: Shape) {
  return z
    .object(shape)
    .nullish()
    .catch(null)
    .transform((record) => {
      if (!record || Object.values(record).every((value) => value === null)) return null;
      return record;
    });
}
