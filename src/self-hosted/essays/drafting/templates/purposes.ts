import type { EssayPurpose } from '../../writing-order.ts';

interface PurposeTemplates {
  introduction: string;
  /** For one point each, used in turn. */
  points: readonly string[];
  conclusion: string;
}

/** The sentences that a writing purpose adds, in all modes. */
export const templatesByPurpose: Readonly<Record<EssayPurpose, PurposeTemplates>> = {
  argumentative: {
    introduction: 'The aim is to make a case, and to make it in a way that can be answered.',
    points: [
      'As a reason, it has to stand up to the best objection that can be raised.',
      'Those who disagree will have to say what they would put in its place.',
      'The case gains strength here only if the other side has been given its due.',
      'If this holds, an opponent has one answer fewer.',
    ],
    conclusion: 'That is the case; whoever rejects it now knows which step to dispute.',
  },
  expository: {
    introduction: 'The aim is to explain, and to leave the judgement to the reader.',
    points: [
      'To explain it means to say what it is, how it comes about and what it leads to.',
      'The explanation should be clear to someone who meets the subject for the first time.',
      'Cause and effect are easily confused here, so they are best named one at a time.',
      'Once the terms are clear, the rest of the explanation is short.',
    ],
    conclusion: 'With that, the parts have been laid out, and the reader can judge how they fit together.',
  },
  narrative: {
    introduction: 'The aim is to tell it as one account, in the order in which it is given.',
    points: [
      'This is where the account begins to move.',
      'From here, the account takes another turn.',
      'At this stage of the account, what came before appears in a new light.',
      'The account pauses here before it goes on.',
    ],
    conclusion: 'So the account ends, with its last step still leading back to the first.',
  },
  descriptive: {
    introduction: 'The aim is to describe, so that the reader can form a picture.',
    points: [
      'To describe it well is to start with what anyone can notice.',
      'Seen up close, details come forward that a quick look would miss.',
      'Seen from a distance, it is the outline that counts.',
      'The picture would change with the light in which it is seen.',
    ],
    conclusion: 'What remains is a picture made of its parts, and open to a second look.',
  },
};
