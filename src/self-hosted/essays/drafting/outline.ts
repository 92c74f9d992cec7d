import { countWords } from '../../../words.ts';
import type { WritingMode } from '../writing-order.ts';
import type { Brief, Point } from './brief.ts';
import { fillTemplate, joinList, nameAllPoints, nameOrdinal, namePoints, type Slots } from './fill-template.ts';
import { capitalise, referTo } from './phrase.ts';
import { academicTemplates } from './templates/academic.ts';
import { journalisticTemplates } from './templates/journalistic.ts';
import type { ModeTemplates, Openings } from './templates/mode-templates.ts';
import { professionalTemplates } from './templates/professional.ts';
import { templatesByPurpose } from './templates/purposes.ts';
import { standardTemplates } from './templates/standard.ts';

/** A sentence of the draft. Rank 0 is required; higher ranks are added in order while there is room. */
interface OutlineSentence {
  text: string;
  rank: number;
}

/** The paragraphs after the title, each with all its possible sentences. */
export type Outline = OutlineSentence[][];

const templatesByMode: Readonly<Record<WritingMode, ModeTemplates>> = {
  Standard: standardTemplates,
  Academic: academicTemplates,
  Professional: professionalTemplates,
  Journalistic: journalisticTemplates,
  Detailed: standardTemplates,
};

/** Creates the outline of a draft with these points of the brief. */
export function createOutline(brief: Brief, points: readonly Point[], mode: WritingMode): Outline {
  const templates = templatesByMode[mode];
  const purpose = brief.purpose ? templatesByPurpose[brief.purpose] : null;
  const slots = createSlots(brief, points);
  const amount = points.length > 1 ? 'several' : points.length === 1 ? 'one' : 'none';
  const used = new Set<string>();
  const lastUse = new Map<string, number>();
  const body = points.length > 0 ? points.map(developPoint) : [ranked(1, templates.withoutPoints)];

  return [introduce(), ...body, conclude()].map((paragraph) => paragraph.filter(({ text }) => text !== ''));

  function introduce(): OutlineSentence[] {
    const { topic } = brief;
    const isQuestion = topic.kind === 'question';
    const lead: OutlineSentence[] =
      topic.kind === 'noun' || topic.kind === 'label'
        ? [{ rank: 0, text: fillFirst(templates.lead[topic.kind], { ...slots, topic: topic.text }) }]
        : [
            { rank: 0, text: topic.text },
            { rank: 2, text: isQuestion ? templates.lead.afterQuestion : templates.lead.afterStatement },
          ];
    const isAnnounced = slots.points && lead[0]?.text.includes(slots.points);
    const overview =
      amount === 'none' || isAnnounced ? [] : [{ rank: 2, text: fillFirst(templates.overview[amount], slots) }];
    const [more, last] = ranked(4, templates.introduction[amount]);
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
    const template = chooseOpening(templates.openings[point.phrase.kind], index, points.length);
    const opening = fillTemplate(template, { ...own, point: point.phrase.text }) ?? point.phrase.text;
    const purposeRound = purpose ? [purpose.points] : [];
    const [bearing = [], connection = [], care = [], outlook = []] = templates.rounds;
    const rounds = [bearing, connection, ...purposeRound, care, outlook];
    return [
      { rank: 0, text: opening },
      ...point.details.map((text, at) => ({ rank: 1 + Math.min(at, 9) / 10, text })),
      ...rounds.map((round, at) => ({ rank: 4 + at, text: takeUnused(round, index, own) })),
    ];
  }

  function conclude(): OutlineSentence[] {
    const [main, ...more] = ranked(2.5, templates.conclusion[amount]);
    const end = purpose ? [{ rank: 3, text: purpose.conclusion }] : [];
    return [...(main ? [main] : []), ...more.map(({ text }, at) => ({ text, rank: 5 + at * 2 })), ...end];
  }

  /** Returns a sentence that is not in the draft yet and whose template was not used recently; otherwise an empty text. */
  function takeUnused(round: readonly string[], index: number, own: Slots): string {
    for (let step = 0; step < round.length; step += 1) {
      const template = round[(index + step) % round.length] ?? '';
      const text = fillTemplate(template, own);
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
    return templates.map((template, at) => ({ rank: rank + at, text: fillTemplate(template, slots) ?? '' }));
  }
}

function createSlots({ topic }: Brief, points: readonly Point[]): Slots {
  const list = joinList(points.map(({ phrase }) => phrase));
  // If the topic is the list of the points, naming both would be a repetition.
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

function fillFirst(templates: readonly string[], slots: Slots): string {
  for (const template of templates) {
    const text = fillTemplate(template, slots);
    if (text !== null) return text;
  }
  return '';
}

/** Titles for a draft with these points, best first: the first of the caller, otherwise some made from the topic. */
export function composeTitles(brief: Brief, points: readonly Point[], mode: WritingMode): string[] {
  const [given] = brief.titles;
  if (given) return [given];
  const { titles, titleCase } = templatesByMode[mode];
  const slots: Slots = { ...createSlots(brief, points), subject: nameSubject(brief) };
  // If the topic is a sentence or a list, a title with the points would repeat it.
  const isPlain = brief.topic.kind === 'noun' && slots.topic !== 'the subject';
  return titles
    .filter((template) => isPlain || template === '{subject}')
    .flatMap((template) => fillTemplate(template, slots) ?? [])
    .map((title) => (titleCase === 'title' && brief.isEnglish ? toTitleCase(title) : title));
}

function nameSubject({ topic }: Brief): string {
  const text = topic.text.replace(/^“(.*)”$/, '$1').replace(/[.。]+$/, '');
  if (countWords(text) <= maxSubjectWords) return text;
  const [clause = ''] = text.split(/[,;:–—(]/, 1);
  if (countWords(clause) >= 2 && countWords(clause) <= maxSubjectWords) return clause.trim();
  return `${text
    .split(/\s+/)
    .slice(0, 10)
    .join(' ')
    .replace(/[\s\p{P}]+$/u, '')}…`;
}

/** Words with a capital (NASA, iPhone) do not change. */
function toTitleCase(title: string): string {
  const words = title.split(' ');
  return words
    .map((word, index) => {
      const isEdge = index === 0 || index === words.length - 1 || /[:?!]$/.test(words[index - 1] ?? '');
      if (/\p{Lu}/u.test(word) || (!isEdge && smallWords.has(word))) return word;
      return word.split('-').map(capitalise).join('-');
    })
    .join(' ');
}

const maxSubjectWords = 14;
const smallWords = new Set('a an the and or but nor of in on at to for from by with as vs versus per via'.split(' '));
