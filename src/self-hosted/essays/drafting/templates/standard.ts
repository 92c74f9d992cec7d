import { type ModeTemplates, verbatimOpenings } from './mode-templates.ts';

export const standardTemplates: ModeTemplates = {
  titles: ['{subject}'],
  titleCase: 'title',
  lead: {
    noun: ['This essay looks at {topic}.'],
    label: ['The subject of this essay can be put in a few words: {topic}.', 'The subject here: {topic}.'],
    afterStatement: 'That is where this essay begins.',
    afterQuestion: 'That is the question this essay takes up.',
  },
  overview: {
    several: ['It takes up {points}: {list}.', 'It takes up {points}, one after the other.'],
    one: ['It keeps to a single point, {list}.', 'It keeps to a single point.'],
  },
  introduction: {
    several: [
      'Each of them is looked at on its own first and beside the others after that.',
      'The order is not a ranking: a point that comes late may matter as much as one that comes early.',
    ],
    one: ['Keeping to one point leaves room to look at it from more than one side.'],
    none: ['A subject like this is best approached with a few plain questions.'],
  },
  openings: {
    noun: {
      only: 'The point is {point}.',
      first: 'The first point is {point}.',
      middle: [
        'Then there is the matter of {point}.',
        'A {ordinal} point is {point}.',
        'From there the way leads to {point}.',
        'Nor can the essay leave out {point}.',
        'The picture widens again with {point}.',
      ],
      last: 'That leaves {point}.',
    },
    label: {
      only: 'The point is this: {point}.',
      first: 'One point comes before the others: {point}.',
      middle: ['A {ordinal} point follows: {point}.', 'There is also this: {point}.', 'The list goes on: {point}.'],
      last: 'One point remains: {point}.',
    },
    statement: verbatimOpenings,
    question: {
      only: 'The question to answer is this: {point}',
      first: 'One question comes before the others: {point}',
      middle: ['A {ordinal} question follows: {point}', 'There is also this to answer: {point}'],
      last: 'One question remains: {point}',
    },
  },
  rounds: [
    [
      'What matters here is how this bears on {topic}, and for whom.',
      'Any view of {topic} that passed over {point} would be incomplete.',
      'Seen from this side, the subject becomes a question of who is affected and how far.',
      'It is worth asking what would change if this were left out of account.',
      'At this place the subject stops being general and has to be looked at case by case.',
    ],
    [
      'It also prepares the ground for {next}.',
      'Set beside {previous}, this gives the subject a second side, and both have to be kept in view.',
      'Whoever has thought about {previous} will read this differently, and that is a gain.',
      'The step from {previous} to {point} is a short one, but it changes the question.',
      'What was said about {previous} is not taken back here; it is carried further.',
    ],
    [
      'A single clear example would do more here than a long list of general remarks.',
      'It helps to keep apart what is known about {point} and what is only supposed.',
      'There is a narrow way to understand this and a wide one, and a careful reader will ask which is meant.',
      'People who agree on everything else may still part ways at this point.',
      'How much weight it carries depends on where one stands, and it is only fair to say so.',
    ],
    [
      'The point does not close the matter, but the matter cannot be closed without it.',
      'For now it is enough to have seen where the difficulty lies.',
      'With that in mind, the rest is easier to place.',
      'More could be asked, and the answer would start from here.',
    ],
  ],
  withoutPoints: [
    'Two questions come first: what exactly belongs to {topic}, and who has a stake in the answer.',
    'The first asks for a clear line, so that everyone talks about the same thing.',
    'The second asks for people, because a subject looks different to those who live with it.',
    'A third question follows from both: what would have to happen for anyone to change their mind.',
    'Examples are the best test of any answer, above all the ones that do not fit.',
  ],
  conclusion: {
    several: [
      'Taken together, these {points} give a fuller view of {topic} than any one of them alone.',
      'They do not add up to a final word, but they show where a good discussion can begin.',
      'Whoever wants to go further can take the point that troubles them most and start there.',
    ],
    one: [
      'In the end it comes back to {topic}, now with one point seen more clearly than before.',
      'That is not the whole of the subject, but it is a place to stand.',
    ],
    none: [
      'None of this settles the subject, but it shows where an answer would have to begin.',
      'A reader who has followed so far can now put the same questions to a case of their own.',
    ],
  },
};
