import type { WritingMode } from '../writing-order.ts';

/*
 * The sentences of a draft. They say how to develop the points of the description, and state no facts about them. A slot has a name in
 * quotation marks, or a text after a colon, so that any phrase in any language fits: {topic}, {point}.
 */

export const modeTemplates: Readonly<Record<WritingMode, Record<'lead' | 'point' | 'develop' | 'conclusion', string>>> =
  {
    Standard: {
      lead: 'This essay has the following subject: {text}',
      point: 'A point to cover is this: {text}',
      develop: 'A plain example would make {point} easy to picture.',
      conclusion: 'Taken together, the points give a fuller view of {topic} than any one of them alone.',
    },
    Academic: {
      lead: 'This paper examines the following subject: {text}',
      point: 'An aspect to be examined is the following: {text}',
      develop: 'Any claim about {point} requires a source that can be consulted.',
      conclusion: 'In conclusion, {topic} has to be judged in the light of all the aspects above.',
    },
    Professional: {
      lead: 'This brief covers the following subject: {text}',
      point: 'An item to settle: {text}',
      develop: 'Name the person who is responsible for {point}, and a date.',
      conclusion: 'In summary, a decision on {topic} has to answer each of the items above.',
    },
    Journalistic: {
      lead: 'At the centre of this report: {text}',
      point: 'Also at issue: {text}',
      develop: 'A report on {point} should let those speak who are directly concerned.',
      conclusion: 'What comes next for {topic} is the question to watch.',
    },
    Detailed: {
      lead: 'This essay treats the following subject in detail: {text}',
      point: 'This point deserves a close look: {text}',
      develop: 'Each part of {point} should be named before the whole is judged.',
      conclusion: 'Seen in detail, {topic} is the sum of the points above and of the links between them.',
    },
  };

/** For each point. */
export const pointSentences = [
  'The first task is to say in plain words what {point} means here.',
  'What matters is how {point} bears on {topic}, and for whom.',
  'A single clear example of {point} would do more than a list of general remarks.',
  'It helps to keep apart what is known about {point} and what is only supposed.',
  'There may be a narrow way to understand {point} and a wide one, so the text should say which is meant.',
  'An honest text also names what speaks against {point}.',
  'More could be said about {point}.',
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
