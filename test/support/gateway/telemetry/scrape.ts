import { spawnSync } from 'node:child_process';
import { expect } from 'vitest';
import { whyMissing } from '../../process.ts';

/** For titles of tests that need promtool: why they are skipped; empty if it is installed. */
export const whyNoPromtool = whyMissing('promtool', 'prometheus');

type Labels = Readonly<Record<string, string>>;

/** The metrics of one scrape. */
export interface Scraped {
  text: string;
  /** Names of metrics that have values, without the suffixes of histograms. */
  names: ReadonlySet<string>;
  series: number;
  /** The sum of all series of this name that have these labels; undefined if there is none. */
  value(name: string, labels?: Labels): number | undefined;
  /** The values by one label. */
  values(name: string, label: string, texts: readonly string[]): (number | undefined)[];
}

export async function scrape(url: string | null): Promise<Scraped> {
  const response = await fetch(url ?? '');
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
  return readMetrics(await response.text());
}

/** Every line must be a comment or a sample. */
export function readMetrics(text: string): Scraped {
  const samples = text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const { name = '', labels = '', value } = sampleLine.exec(line)?.groups ?? expect.unreachable(line);
      return { name, labels: readLabels(labels), value: Number(value) };
    });
  const scraped: Scraped = {
    text,
    names: new Set(samples.map(({ name }) => name.replace(/_(bucket|sum|count)$/, ''))),
    series: samples.length,
    value(name, labels = {}) {
      const wanted = Object.entries(labels);
      const found = samples.filter(
        (one) => one.name === name && wanted.every(([key, value]) => one.labels[key] === value),
      );
      return found.length === 0 ? undefined : found.reduce((sum, { value }) => sum + value, 0);
    },
    values: (name, label, texts) => texts.map((text) => scraped.value(name, { [label]: text })),
  };
  return scraped;
}

const sampleLine = /^(?<name>[a-z0-9_]+)(?:\{(?<labels>.*)\})? (?<value>-?[0-9.e+-]+|[+]Inf|NaN)$/;

function readLabels(text: string): Labels {
  return Object.fromEntries(
    [...text.matchAll(/([a-z_]+)="((?:[^"\\]|\\.)*)"/g)].map(([, name, value]) => [name, value]),
  );
}

/** Problems that promtool finds in the format and in the names; empty if there are none. */
export function checkWithPromtool(text: string): string {
  const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], { input: text, encoding: 'utf8' });
  return status === 0 ? '' : `${status}: ${stdout}${stderr}`;
}
