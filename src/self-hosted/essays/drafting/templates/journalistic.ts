import { type ModeTemplates, verbatimOpenings } from './mode-templates.ts';

export const journalisticTemplates: ModeTemplates = {
  titles: ['{subject}: {list} in focus', '{subject}: {points} in focus', '{subject}'],
  titleCase: 'sentence',
  lead: {
    noun: [
      'When it comes to {topic}, {points} stand out: {list}.',
      'When it comes to {topic}, {points} stand out.',
      'This report is about {topic}.',
    ],
    label: ['At the centre of this report: {topic}.'],
    afterStatement: 'That is the starting point of this report.',
    afterQuestion: 'That is the question behind this report.',
  },
  overview: {
    several: ['Behind it are {points} that need a closer look.'],
    one: ['One point needs a closer look.'],
  },
  introduction: {
    several: [
      'Here is what is on the table, one point at a time.',
      'What is known so far comes first; what is still open is named as such.',
    ],
    one: ['What is known so far comes first; what is still open is named as such.'],
    none: ['Here is what readers may want to know first.'],
  },
  openings: {
    noun: {
      only: 'At the top of the list is the issue of {point}.',
      first: 'At the top of the list is the issue of {point}.',
      middle: [
        'Also under scrutiny: {point}.',
        'Then there is the question of {point}.',
        'The debate does not stop there: it extends to {point}.',
        'Another part of the story is that of {point}.',
        'Also raised is the issue of {point}.',
      ],
      last: 'That brings the story to {point}.',
    },
    label: {
      only: 'On the table: {point}.',
      first: 'First on the list: {point}.',
      middle: ['Also raised: {point}.', 'Point number {number}: {point}.', 'On the table as well: {point}.'],
      last: 'Last on the list: {point}.',
    },
    statement: {
      ...verbatimOpenings,
      middle: ['{point}', 'There is more. {point}', '{point}', 'The story does not end there. {point}'],
    },
    question: {
      only: 'The open question: {point}',
      first: 'One question comes first: {point}',
      middle: ['Also unanswered: {point}', 'Another question is open: {point}'],
      last: 'And one question remains: {point}',
    },
  },
  rounds: [
    [
      'For readers, the question is what that means in practice, and for whom.',
      'No report on {topic} would be complete without {point}.',
      'Who is affected, and how much, is what a closer look would have to show.',
      'The answer may depend on whom one asks.',
      'On this, details matter more than slogans.',
    ],
    [
      'It is also where the issue of {next} begins.',
      'The issue is tied to that of {previous}, and neither story can be told in full without the other.',
      'Seen next to {previous}, the picture changes.',
      'Those who follow {previous} will want to watch this too.',
      'How the issue of {previous} plays into this is one thing to watch.',
    ],
    [
      'What is certain and what is only claimed should be kept apart.',
      'Supporters and critics alike would have to say where they stand on {point}.',
      'Numbers would help here, provided that their source is named.',
      'Much hangs on who decides, and when.',
      'Both sides deserve a hearing before a verdict is given.',
    ],
    [
      'For the moment, that much is on record.',
      'The rest remains to be reported.',
      'A follow-up would start with those directly concerned.',
      'Until more is known, caution is in order.',
    ],
  ],
  withoutPoints: [
    'The first thing to establish about {topic} is who is affected.',
    'The second is who decides, and on what grounds.',
    'Also open is what would count as a good outcome, and for whom.',
    'Claims on all sides would have to be checked against what can be documented.',
    'Those directly concerned should be heard before anyone else.',
  ],
  conclusion: {
    several: [
      'What comes next for {topic} will depend on {allPoints}.',
      'For now, they mark what is known to be at stake.',
      'Each of them is worth a story of its own.',
    ],
    one: ['For now, that is the point to watch.', 'Further reporting on {topic} would have to start there.'],
    none: ['For now, the questions are clearer than the answers.', 'Further reporting would have to start there.'],
  },
};
