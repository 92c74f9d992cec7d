/**
 * How one mode speaks. Sentences frame, order and connect; none states a fact about the topic, which the drafter knows
 * nothing of. A slot stands only where any number and any ending reads well, so never as the subject of a verb:
 * {topic} {point} {previous} {next} noun phrases; {points} "three points", {allPoints} "all three points", both for more than one; {list} "a, b and c"; {ordinal} "second".
 */
export interface Phrasing {
  /** Best first; one is taken that is not too long for the draft. */
  titles: readonly string[];
  titleCase: 'title' | 'sentence';
  lead: { noun: readonly string[]; label: readonly string[]; afterStatement: string; afterQuestion: string };
  overview: { several: readonly string[]; one: readonly string[] };
  introduction: { several: readonly string[]; one: readonly string[]; none: readonly string[] };
  openings: { noun: Openings; label: Openings; statement: Openings; question: Openings };
  /** Rounds of sentences about one point; a paragraph takes one sentence of each round, as far as there is room. */
  rounds: readonly (readonly string[])[];
  /** The one paragraph between introduction and conclusion where the description names no points. */
  withoutPoints: readonly string[];
  conclusion: { several: readonly string[]; one: readonly string[]; none: readonly string[] };
}

export interface Openings {
  /** Where there is one point and no other. */
  only: string;
  first: string;
  /** Taken in turn. */
  middle: readonly string[];
  last: string;
}

/** A description's own sentences open their paragraphs as they are, now and then with a word of connection. */
export const verbatimOpenings: Openings = {
  only: '{point}',
  first: '{point}',
  middle: ['{point}', 'There is more to it. {point}', '{point}', 'Something else belongs here. {point}'],
  last: '{point}',
};
