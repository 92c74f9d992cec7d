import type { EssayMode } from '../essay-writer.ts';
import type { Brief } from './brief.ts';
import { fillPhrase, joinList, nameAllPoints, nameOrdinal, namePoints, type Slots } from './fill-phrase.ts';
import { referTo } from './phrase.ts';
import { academicPhrasing } from './phrasing/academic.ts';
import { journalisticPhrasing } from './phrasing/journalistic.ts';
import type { Openings, Phrasing } from './phrasing/phrasing.ts';
import { professionalPhrasing } from './phrasing/professional.ts';
import { purposePhrasings } from './phrasing/purposes.ts';
import { standardPhrasing } from './phrasing/standard.ts';
import type { Point } from './points.ts';

/** A sentence of the draft. Rank 0 has to be there; of the others, the lower rank goes in first while there is room. */
export interface OutlineSentence {
  text: string;
  rank: number;
}

/** The draft's paragraphs after its title, each with every sentence it could have. */
export type Outline = OutlineSentence[][];

export const phrasings: Readonly<Record<EssayMode, Phrasing>> = {
  Standard: standardPhrasing,
  Academic: academicPhrasing,
  Professional: professionalPhrasing,
  Journalistic: journalisticPhrasing,
};

/** What there is to say about these points of the brief, in order. */
export function createOutline(brief: Brief, points: readonly Point[], mode: EssayMode): Outline {
  const phrasing = phrasings[mode];
  const purpose = brief.purpose ? purposePhrasings[brief.purpose] : null;
  const slots = createSlots(brief, points);
  const amount = points.length > 1 ? 'several' : points.length === 1 ? 'one' : 'none';
  const used = new Set<string>();
  const lastUse = new Map<string, number>();
  const body = points.length > 0 ? points.map(developPoint) : [ranked(1, phrasing.withoutPoints)];

  return [introduce(), ...body, conclude()].map((paragraph) => paragraph.filter(({ text }) => text !== ''));

  function introduce(): OutlineSentence[] {
    const { topic } = brief;
    const isQuestion = topic.kind === 'question';
    const lead: OutlineSentence[] =
      topic.kind === 'noun' || topic.kind === 'label'
        ? [{ rank: 0, text: firstThatFits(phrasing.lead[topic.kind], { ...slots, topic: topic.text }) }]
        : [
            { rank: 0, text: topic.text },
            { rank: 2, text: isQuestion ? phrasing.lead.afterQuestion : phrasing.lead.afterStatement },
          ];
    const isAnnounced = slots.points && lead[0]?.text.includes(slots.points);
    const overview =
      amount === 'none' || isAnnounced ? [] : [{ rank: 2, text: firstThatFits(phrasing.overview[amount], slots) }];
    const [more, last] = ranked(4, phrasing.introduction[amount]);
    const aim = purpose ? [{ rank: 3, text: purpose.introduction }] : [];
    return [...lead, ...overview, ...(more ? [more] : []), ...aim, ...(last ? [{ ...last, rank: 8 }] : [])];
  }

  function developPoint(point: Point, index: number): OutlineSentence[] {
    const own: Slots = {
      ...slots,
      point: referTo(point.phrase, 7),
      previous: refer(index - 1),
      next: refer(index + 1),
      ordinal: nameOrdinal(index),
      number: String(index + 1),
    };
    const template = chooseOpening(phrasing.openings[point.phrase.kind], index, points.length);
    const opening = fillPhrase(template, { ...own, point: point.phrase.text }) ?? point.phrase.text;
    const purposeRound = purpose ? [purpose.points] : [];
    const [bearing = [], connection = [], care = [], outlook = []] = phrasing.rounds;
    const rounds = [bearing, connection, ...purposeRound, care, outlook];
    return [
      { rank: 0, text: opening },
      ...point.details.map((text, at) => ({ rank: 1 + Math.min(at, 9) / 10, text })),
      ...rounds.map((round, at) => ({ rank: 4 + at, text: takeUnused(round, index, own) })),
    ];
  }

  function conclude(): OutlineSentence[] {
    const [main, ...more] = ranked(2.5, phrasing.conclusion[amount]);
    const end = purpose ? [{ rank: 3, text: purpose.conclusion }] : [];
    return [...(main ? [main] : []), ...more.map(({ text }, at) => ({ text, rank: 5 + at * 2 })), ...end];
  }

  /** No sentence of ours stands twice in a draft, nor two of one make close together; where a round has none left, the paragraph does without. */
  function takeUnused(round: readonly string[], index: number, own: Slots): string {
    for (let step = 0; step < round.length; step += 1) {
      const template = round[(index + step) % round.length] ?? '';
      const text = fillPhrase(template, own);
      const isFresh = index - (lastUse.get(template) ?? Number.NEGATIVE_INFINITY) >= round.length;
      if (text === null || used.has(text) || !isFresh) continue;
      used.add(text);
      lastUse.set(template, index);
      return text;
    }
    return '';
  }

  function refer(index: number): string | null {
    const point = points[index];
    return point ? referTo(point.phrase, 7) : null;
  }

  function ranked(rank: number, templates: readonly string[]): OutlineSentence[] {
    return templates.map((template, at) => ({ rank: rank + at, text: fillPhrase(template, slots) ?? '' }));
  }
}

export function createSlots({ topic }: Brief, points: readonly Point[]): Slots {
  const list = joinList(points.map(({ phrase }) => phrase));
  // Where the points are all that the topic is, to name both would be to say the same twice.
  const isSame = list === topic.text;
  return {
    topic: (isSame ? null : referTo(topic, 8)) ?? 'the subject',
    points: points.length > 1 ? namePoints(points.length) : null,
    allPoints: points.length > 1 ? nameAllPoints(points.length) : null,
    list: isSame ? null : list,
  };
}

function chooseOpening({ only, first, middle, last }: Openings, index: number, count: number): string {
  if (count === 1) return only;
  if (index === 0) return first;
  return index === count - 1 ? last : (middle[(index - 1) % middle.length] ?? first);
}

function firstThatFits(templates: readonly string[], slots: Slots): string {
  for (const template of templates) {
    const text = fillPhrase(template, slots);
    if (text !== null) return text;
  }
  return '';
}
