import type { MetricName } from './definitions.ts';

/** One line of a metric. */
export interface Sample {
  value: number;
  labels?: Readonly<Record<string, string | number>>;
  /** Appended to the name. */
  suffix?: '_bucket' | '_sum' | '_count';
}

/** Reads the values of a metric when it is scraped. */
type Collect = () => readonly Sample[] | Promise<readonly Sample[]>;

export type Collectors<Name extends MetricName> = Readonly<Record<Name, Collect>>;
