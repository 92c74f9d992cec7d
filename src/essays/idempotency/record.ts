import * as z from 'zod';
import { StoreError } from '../../stores/store.ts';

/** Release 0.1.0 wrote the records of version 1 without a version. */
export const version1 = z.literal(1).default(1);

/** @throws StoreError when the record is damaged or of a later version */
export function parseRecord<T>(schema: z.ZodType<T>, text: string | null): T | null {
  try {
    return text === null ? null : schema.parse(JSON.parse(text));
  } catch {
    throw new StoreError('a record is damaged or of a later version');
  }
}
