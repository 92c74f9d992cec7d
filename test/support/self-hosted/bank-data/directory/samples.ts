import type { Sample } from './sample.ts';
import { textSamples } from './text-samples.ts';
import { workbookSamples } from './workbook-samples.ts';

/** One for each of the formats. */
export const samples: readonly Sample[] = [...textSamples, ...workbookSamples];

/** A sample by its country; for Germany the CSV. */
export function tSample(country: string): Sample {
  const sample = samples.find((candidate) => candidate.country === country);
  if (sample === undefined) throw new Error(`no sample for ${country}`);
  return sample;
}
