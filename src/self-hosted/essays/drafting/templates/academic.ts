import { type ModeTemplates, verbatimOpenings } from './mode-templates.ts';

export const academicTemplates: ModeTemplates = {
  titles: ['{subject}: {list}', '{subject}'],
  titleCase: 'title',
  lead: {
    noun: ['This paper examines {topic}.'],
    label: ['The object of this paper may be stated as follows: {topic}.', 'The object of this paper: {topic}.'],
    afterStatement: 'This proposition is the point of departure for the present paper.',
    afterQuestion: 'This is the question that the present paper addresses.',
  },
  overview: {
    several: [
      'The discussion proceeds by way of {points}, namely {list}.',
      'The discussion proceeds by way of {points}, each considered in turn.',
    ],
    one: ['The discussion is confined to one aspect, namely {list}.', 'The discussion is confined to one aspect.'],
  },
  introduction: {
    several: [
      'These are treated as distinct for the sake of analysis, although in practice they may overlap.',
      'The sequence adopted here is one of exposition and implies no order of importance.',
    ],
    one: ['This restriction is deliberate, since a narrow question permits a more exact answer.'],
    none: ['Before any position can be defended, the terms of the question have to be made precise.'],
  },
  openings: {
    noun: {
      only: 'The analysis concerns {point}.',
      first: 'The analysis begins with {point}.',
      middle: [
        'A {ordinal} dimension concerns {point}.',
        'Attention must then turn to {point}.',
        'Closely connected with this is the question of {point}.',
        'No treatment of the subject could disregard {point}.',
        'Equally in need of discussion is the matter of {point}.',
      ],
      last: 'It remains to consider {point}.',
    },
    label: {
      only: 'The aspect in question may be stated as follows: {point}.',
      first: 'The first consideration may be stated as follows: {point}.',
      middle: ['A {ordinal} consideration is this: {point}.', 'To this must be added a further one: {point}.'],
      last: 'A final consideration remains: {point}.',
    },
    statement: {
      ...verbatimOpenings,
      middle: ['{point}', 'A further observation is pertinent. {point}', '{point}', 'This has a counterpart. {point}'],
    },
    question: {
      only: 'The question at issue is this: {point}',
      first: 'One question is prior to the others: {point}',
      middle: ['A {ordinal} question arises: {point}', 'It may further be asked: {point}'],
      last: 'A final question remains: {point}',
    },
  },
  rounds: [
    [
      'The relevance of this to {topic} is not self-evident and has to be argued rather than assumed.',
      'An account of {topic} that neglected {point} would rest on an incomplete foundation.',
      'What is at issue is less whether this belongs to the subject than how far its influence extends.',
      'The difficulty lies in distinguishing what is essential from what is merely incidental.',
      'Here in particular, general claims require qualification according to context.',
    ],
    [
      'It also supplies terms in which {next} can later be discussed.',
      'In relation to {previous}, this aspect serves both as a complement and as a test.',
      'Considered together with {previous}, this suggests that no single perspective will suffice.',
      'Whereas {previous} directs attention to one side of the problem, the present aspect directs it to another.',
      'The argument thus moves from {previous} to {point} without abandoning the earlier ground.',
    ],
    [
      'A cautious reading would separate what can be demonstrated from what can only be conjectured.',
      'Evidence bearing on {point} should be weighed with regard to its scope and its limits.',
      'At least two interpretations are available, and the choice between them calls for justification.',
      'The strongest objection deserves to be stated in full before it is answered.',
      'It would be premature to generalise from individual cases, however instructive they may be.',
    ],
    [
      'The conclusion to be drawn at this stage is therefore a provisional one.',
      'What follows from this can be judged only in the light of the argument as a whole.',
      'To that extent, the inquiry has gained a criterion on which it can rely.',
      'Further inquiry would have to begin at exactly this place.',
    ],
  ],
  withoutPoints: [
    'Two preliminary questions arise: how {topic} should be delimited, and from whose perspective.',
    'The first is a matter of definition, on which the scope of every later claim depends.',
    'The second is a matter of method, since different perspectives bring different evidence into view.',
    'Only when both have been answered can competing explanations be compared on equal terms.',
    'It follows that any general thesis should be tested against the cases least favourable to it.',
  ],
  conclusion: {
    several: [
      'Taken together, the {points} considered here indicate that {topic} cannot be reduced to a single issue.',
      'Each qualifies the others, and none of them is sufficient in isolation.',
      'The result is not a final judgement but a framework within which such a judgement could be justified.',
    ],
    one: [
      'The aspect considered here does not exhaust {topic}, but it provides a defensible point of entry.',
      'Whether the result can be extended to the subject as a whole remains an open question.',
    ],
    none: [
      'The foregoing remarks do not resolve the question; they specify the conditions of a sound answer.',
      'Within these limits, further work on the subject can proceed on clearer terms.',
    ],
  },
};
