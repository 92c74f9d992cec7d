import type { EssayPurpose, WritingMode } from '../writing-order.ts';

/*
 * The sentences of a draft. They say how to develop the points of the description, and state no facts about them. A slot has a name in
 * quotation marks, or a text after a colon, so that any phrase in any language fits: {topic}, {point}, {other} (another point).
 */

interface ModeTemplates {
  lead: string;
  point: readonly string[];
  develop: string;
  conclusion: string;
}

export const modeTemplates: Readonly<Record<WritingMode, ModeTemplates>> = {
  Standard: {
    lead: 'This essay has the following subject: {text}',
    point: [
      'The first point is this: {text}',
      'Another point follows: {text}',
      'A further point belongs here: {text}',
      'The last point is this: {text}',
    ],
    develop: 'A plain example would make {point} easy to picture.',
    conclusion: 'Taken together, the points give a fuller view of {topic} than any one of them alone.',
  },
  Academic: {
    lead: 'This paper examines the following subject: {text}',
    point: [
      'The first aspect to be examined is the following: {text}',
      'A further aspect is the following: {text}',
      'The analysis then turns to this aspect: {text}',
      'The last aspect to be examined is the following: {text}',
    ],
    develop: 'Any claim about {point} requires a source that can be consulted.',
    conclusion: 'In conclusion, {topic} has to be judged in the light of all the aspects above.',
  },
  Professional: {
    lead: 'This brief covers the following subject: {text}',
    point: [
      'The first item to settle: {text}',
      'Also on the agenda: {text}',
      'The next item: {text}',
      'The final item: {text}',
    ],
    develop: 'Name the person who is responsible for {point}, and a date.',
    conclusion: 'In summary, a decision on {topic} has to answer each of the items above.',
  },
  Journalistic: {
    lead: 'At the centre of this report: {text}',
    point: [
      'First on the list: {text}',
      'Also at issue: {text}',
      'Another part of the story: {text}',
      'Last on the list: {text}',
    ],
    develop: 'A report on {point} should let those speak who are directly concerned.',
    conclusion: 'What comes next for {topic} is the question to watch.',
  },
  Detailed: {
    lead: 'This essay treats the following subject in detail: {text}',
    point: [
      'The first point deserves a close look: {text}',
      'The next point to be taken apart: {text}',
      'A further point in the same detail: {text}',
      'The last point completes the picture: {text}',
    ],
    develop: 'Each part of {point} should be named before the whole is judged.',
    conclusion: 'Seen in detail, {topic} is the sum of the points above and of the links between them.',
  },
};

export const purposeTemplates: Readonly<
  Record<EssayPurpose, { introduction: string; develop: string; conclusion: string }>
> = {
  argumentative: {
    introduction: 'The aim is to make a case, and to make it in a way that can be answered.',
    develop: 'As a reason, {point} has to withstand the best objection that can be raised.',
    conclusion: 'That is the case, step by step, so that each step can be disputed.',
  },
  expository: {
    introduction: 'The aim is to explain, and to leave the judgement to the reader.',
    develop: 'To explain {point} is to say what it is, how it comes about and what it leads to.',
    conclusion: 'With that, the parts have been laid out, and the reader can judge how they fit together.',
  },
  narrative: {
    introduction: 'The aim is to tell it as one account, in the order in which it is given.',
    develop: 'The account of {point} needs a place, a time and a person.',
    conclusion: 'So the account ends, and its last step leads back to the first.',
  },
  descriptive: {
    introduction: 'The aim is to describe, so that the reader can form a picture.',
    develop: 'To describe {point} well is to begin with what can be seen and heard.',
    conclusion: 'What remains is a picture made of its parts, and open to a second look.',
  },
};

/** Once in a draft, in turn over the points. Short ones fill the last words of an order. */
export const sharedSentences = [
  'The order of the points is not a ranking.',
  'What is known should be kept apart from what is supposed.',
  'A figure helps only if its source is named.',
  'One good example is enough here.',
  'The opposite view deserves a fair hearing.',
  'Plain words serve better than technical ones.',
  'An exception can say more than a rule.',
  'It is worth asking who benefits.',
  'It is worth asking who pays.',
  'Details matter more than slogans here.',
  'The reader may see it differently.',
  'A question can stay open.',
  'More could be said.',
];

/** For each point. */
export const pointSentences = [
  'The first task is to say in plain words what {point} means here.',
  'What matters is how {point} bears on {topic}, and for whom.',
  'A single clear example of {point} would do more than a list of general remarks.',
  'It helps to keep apart what is known about {point} and what is only supposed.',
  'The link between {point} and {other} should be made clear, since one may change the other.',
  'There may be a narrow way to understand {point} and a wide one, so the text should say which is meant.',
  'An honest text also names what speaks against {point}.',
  'If {point} were left out, {topic} would look different, and it is worth saying how.',
  'Where {point} and {other} point in different directions, the text should say which one comes first.',
  'The paragraph on {point} can end with what remains open.',
];

/** Combined for each point: what to say, and for which reader. The combinations are enough for the longest order. */
export const readers = [
  'a reader who meets the subject for the first time',
  'a person who deals with the subject every day',
  'someone who has to decide',
  'someone who has to pay for the result',
  'a critic',
  'an expert',
  'a reader from another country',
  'a reader who will come back to the text in ten years',
];
export const questions = [
  'which words need an explanation',
  'what is certain and what is not',
  'which example is typical',
  'which example does not fit',
  'what the causes may be',
  'what the consequences may be',
  'what it costs and what it brings',
  'what has been tried before',
  'which objection is the strongest',
  'which question should be asked next',
  'what would have to happen for an opinion to change',
];
export const combinations = [
  'On {point}, the text should tell {reader} {question}.',
  'For {reader}, the text on {point} has to say {question}.',
  'One sentence about {point} can say, with {reader} in mind, {question}.',
  'As to {point}, {reader} will want to know {question}.',
];

export const endings = [
  'This text is a draft made without a language model: it arranges the description and adds no facts.',
  'This is a draft made without a language model.',
  'Draft made without a language model.',
];
