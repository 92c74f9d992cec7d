import { useEffect, useState } from 'react';
import type { Format, IbanClient } from './iban-client.ts';

/** The IBAN formats by country; null while they are not known: the page works without them. */
export function useFormats(ibans: IbanClient): ReadonlyMap<string, Format> | null {
  const [formats, setFormats] = useState<ReadonlyMap<string, Format> | null>(null);
  useEffect(() => {
    void ibans.formats().then((answer) => {
      if ('value' in answer) setFormats(new Map(answer.value.countries.map((country) => [country.code, country])));
    });
  }, [ibans]);
  return formats;
}
