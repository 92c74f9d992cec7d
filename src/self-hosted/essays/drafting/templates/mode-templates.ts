/**
 * The sentence templates of one mode. They introduce and connect points, but state no facts about the topic. A slot is
 * only where singular and plural both read well, so never the subject of a verb. Slots: noun phrases {topic}, {point},
 * {previous} and {next}; {points} "three points" and {allPoints} "all three points", for more than one; {list} "a, b and
 * c"; {ordinal} "second".
 */
export interface ModeTemplates {
  /** Best first; the first that is short enough is used. */
  titles: readonly string[];
  titleCase: 'title' | 'sentence';
  lead: { noun: readonly string[]; label: readonly string[]; afterStatement: string; afterQuestion: string };
  overview: { several: readonly string[]; one: readonly string[] };
  introduction: { several: readonly string[]; one: readonly string[]; none: readonly string[] };
  openings: { noun: Openings; label: Openings; statement: Openings; question: Openings };
  /** A paragraph about a point has one sentence of each round, if there is room. */
  rounds: readonly (readonly string[])[];
  /** The only paragraph between introduction and conclusion if there are no points. */
  withoutPoints: readonly string[];
  conclusion: { several: readonly string[]; one: readonly string[]; none: readonly string[] };
}

export interface Openings {
  /** For the only point. */
  only: string;
  first: string;
  /** Used in turn. */
  middle: readonly string[];
  last: string;
}

/** For sentences of the description, which start their paragraph unchanged, some with a connecting sentence. */
export const verbatimOpenings: Openings = {
  only: '{point}',
  first: '{point}',
  middle: ['{point}', 'There is more to it. {point}', '{point}', 'Something else belongs here. {point}'],
  last: '{point}',
};
