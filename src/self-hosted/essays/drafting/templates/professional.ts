import { type ModeTemplates, verbatimOpenings } from './mode-templates.ts';

export const professionalTemplates: ModeTemplates = {
  titles: ['{subject}: {points} to Consider', '{subject}'],
  titleCase: 'title',
  lead: {
    noun: ['This brief deals with {topic}.'],
    label: ['The subject of this brief is the following: {topic}.', 'The subject of this brief: {topic}.'],
    afterStatement: 'This brief takes that as its starting point.',
    afterQuestion: 'This brief sets out what an answer has to take into account.',
  },
  overview: {
    several: ['It covers {points}: {list}.', 'It covers {points}.'],
    one: ['It concentrates on {list}.', 'It concentrates on one point.'],
  },
  introduction: {
    several: [
      'Each can be read on its own, and together they give a basis for a decision.',
      'Where priorities differ from one reader to the next, the brief says what to ask rather than what to think.',
    ],
    one: ['A narrow focus keeps the discussion practical and the next step clear.'],
    none: ['The aim is a shared understanding before anyone commits time or money.'],
  },
  openings: {
    noun: {
      only: 'The item to settle is {point}.',
      first: 'Start with {point}.',
      middle: [
        'The {ordinal} item is {point}.',
        'Next on the agenda is the matter of {point}.',
        'Close attention should also go to {point}.',
        'Planning has to allow for {point} as well.',
        'Another item that calls for an owner is that of {point}.',
      ],
      last: 'Finally, consider {point}.',
    },
    label: {
      only: 'The item to settle: {point}.',
      first: 'Start here: {point}.',
      middle: ['The {ordinal} item: {point}.', 'Also on the agenda: {point}.', 'Next to settle: {point}.'],
      last: 'The final item: {point}.',
    },
    statement: {
      ...verbatimOpenings,
      middle: ['{point}', 'A further fact to plan with: {point}', '{point}', 'This also belongs in the plan. {point}'],
    },
    question: {
      only: 'The question to settle: {point}',
      first: 'The first question to settle: {point}',
      middle: ['The {ordinal} question: {point}', 'Another question for the agenda: {point}'],
      last: 'The final question: {point}',
    },
  },
  rounds: [
    [
      'The practical question is what this means for {topic} in day-to-day terms.',
      'Those responsible for {topic} should know where they stand on {point} before they commit themselves.',
      'Decide early who is responsible for this and what a good result would look like.',
      'The effect will differ from group to group, so ask first who is concerned.',
      'What can be measured here should be measured; what cannot should at least be described.',
    ],
    [
      'Clarity at this stage will also help with {next}.',
      'Review it together with {previous}, since a decision on one may limit the options for the other.',
      'If time or budget forces a choice between this and {previous}, make that choice openly.',
      'The people consulted on {previous} are a sensible first group to ask here too.',
      'Check that what is agreed on {point} does not undo what was agreed on {previous}.',
    ],
    [
      'Before acting, separate confirmed information from assumption.',
      'Name the main risk in {point} and say what would reduce it.',
      'A small trial will often show more than a long discussion.',
      'List the alternatives, including the option of leaving things as they are.',
      'Expect objections, and treat the well-founded ones as part of the plan.',
    ],
    [
      'A short written note of the decision will save questions later.',
      'Set a date on which the matter is looked at again.',
      'If the answer is still unclear, that is itself worth reporting.',
      'Agree on the next step before moving on.',
    ],
  ],
  withoutPoints: [
    'Begin by agreeing on what {topic} includes and what it does not.',
    'Then identify who is affected, who decides and who has to be informed.',
    'With that in place, the options can be listed and compared on the same terms.',
    'Write down the assumptions behind each option, so that they can be checked.',
    'A first step that can be reversed is usually easier to agree on than one that cannot.',
  ],
  conclusion: {
    several: [
      'In summary, a sound decision on {topic} has to answer for {allPoints}.',
      'Where they point in different directions, priorities should be agreed first and details second.',
      'The recommended next step is to assign each of them to one person and one date.',
    ],
    one: [
      'In summary, one point should be settled before anything else is decided about {topic}.',
      'The recommended next step is to name a person who is responsible for it and a date.',
    ],
    none: [
      'In summary, agreement on scope, people and options comes before any decision on {topic}.',
      'The recommended next step is a short meeting with those most affected.',
    ],
  },
};
