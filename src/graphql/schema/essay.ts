import type {
  Essay,
  EssayAllowanceExhausted,
  EssayResult,
  EssayServiceFailed,
  InvalidEssayInput,
} from '../../essays/essays.ts';
import { builder } from './builder.ts';
import { DateTimeType } from './date-time.ts';
import { ErrorType, UpstreamErrorCodeType } from './error.ts';
import { paid } from './tags.ts';
import { essayWeight } from './weights.ts';

const EssayModeType = builder.enumType('EssayMode', {
  description: 'In which manner an essay is written.',
  values: {
    STANDARD: { description: 'Plain and balanced.' },
    ACADEMIC: { description: 'As for a seminar or a journal.' },
    PROFESSIONAL: { description: 'As for colleagues and clients.' },
    NEWS_REPORT: { description: 'As a newspaper reports it.' },
  } as const,
});

const WritingPurposeType = builder.enumType('WritingPurpose', {
  description: 'What an essay is to do for its reader.',
  values: {
    NARRATIVE: { description: 'Tell what happened.' },
    ARGUMENTATIVE: { description: 'Take a side and give reasons.' },
    EXPOSITORY: { description: 'Explain.' },
    DESCRIPTIVE: { description: 'Show how something is.' },
  } as const,
});

const EssayType = builder.objectRef<Essay>('Essay').implement({
  description: 'A written essay.',
  fields: (t) => ({
    id: t.exposeID('id', {
      description: 'Whoever ordered it finds it by this again, with `essay(id:)`, for as long as it is kept.',
    }),
    text: t.exposeString('text', { description: 'The text; paragraphs stand apart by line breaks.' }),
    wordCount: t.exposeInt('wordCount', { description: 'How many words the text has.' }),
    mode: t.expose('mode', { type: EssayModeType, description: 'The mode it was ordered in.' }),
  }),
});

const InvalidEssayInputType = builder.objectRef<InvalidEssayInput>('InvalidEssayInput').implement({
  description: 'The input must be changed before it can succeed. No essay was written.',
  interfaces: [ErrorType],
  fields: (t) => ({
    field: t.exposeString('field', {
      nullable: true,
      description: 'The input field at fault; null when it is no single field, or the essay service did not say which.',
    }),
  }),
});

const EssayAllowanceExhaustedType = builder.objectRef<EssayAllowanceExhausted>('EssayAllowanceExhausted').implement({
  description: 'The allowance of the essay service is used up.',
  interfaces: [ErrorType],
  fields: (t) => ({
    renewsAt: t.expose('renewsAt', {
      type: DateTimeType,
      nullable: true,
      description: 'When the service takes orders again; null when it did not say.',
    }),
  }),
});

const EssayServiceFailedType = builder.objectRef<EssayServiceFailed>('EssayServiceFailed').implement({
  description: 'No essay came back. Unless the order was turned away unsent, the service may have charged for it.',
  interfaces: [ErrorType],
  fields: (t) => ({
    code: t.expose('code', {
      type: UpstreamErrorCodeType,
      description: 'How it failed, by a code that errors carry in extensions.code as well.',
    }),
    retryable: t.exposeBoolean('retryable', {
      description: 'Whether the same order may succeed when it is sent again.',
    }),
    rawText: t.exposeString('rawText', {
      nullable: true,
      description:
        'What arrived of an answer that broke off or could not be read: it was paid for. Null when nothing did.',
    }),
  }),
});

const GenerateEssayResultType = builder.unionType('GenerateEssayResult', {
  description: 'What came of an order for an essay.',
  types: [EssayType, InvalidEssayInputType, EssayAllowanceExhaustedType, EssayServiceFailedType],
  resolveType: (result) => typeNames[(result as EssayResult).kind],
});

const typeNames = {
  essay: EssayType,
  'invalid-input': InvalidEssayInputType,
  'allowance-exhausted': EssayAllowanceExhaustedType,
  'service-failed': EssayServiceFailedType,
};

const GenerateEssayInputType = builder.inputType('GenerateEssayInput', {
  description: 'An order for an essay.',
  fields: (t) => ({
    description: t.string({ required: true, description: 'The topic and the points to cover.' }),
    mode: t.field({
      type: EssayModeType,
      required: true,
      defaultValue: 'STANDARD',
      description: 'In which manner to write.',
    }),
    wordCount: t.int({ required: true, description: 'Most words the text may have, from 1 to 2000.' }),
    purpose: t.field({ type: WritingPurposeType, description: 'What the essay is to do for its reader.' }),
    titles: t.stringList({ description: 'Titles to choose from.' }),
    idempotencyKey: t.id({
      description:
        'A name of your choice for this order, at most 200 characters, such as a UUID made when its form was opened. Sent ' +
        'again under the same name, the order is answered with the same essay and not paid for again: use it for every ' +
        'retry. Another order needs another name.',
    }),
  }),
});

builder.mutationField('generateEssay', (t) =>
  t.field({
    type: GenerateEssayResultType,
    tag: paid,
    cost: essayWeight,
    description:
      'Has an essay written. This takes up to two minutes, and each call is paid for; with an idempotencyKey, once. It is ' +
      'written to its end also when the client hangs up meanwhile, and kept.',
    args: { input: t.arg({ type: GenerateEssayInputType, required: true, description: 'What to write.' }) },
    resolve: async (_, { input }, { essays, budget, requestContext }): Promise<EssayResult> => {
      if (!budget.spend('essays'))
        return { kind: 'invalid-input', field: null, message: budget.exceeded('essays').message };
      const { purpose = null, titles, idempotencyKey = null } = input;
      return essays.generate({ ...input, purpose, titles: titles ?? [], idempotencyKey }, requestContext);
    },
  }),
);

builder.queryField('essay', (t) =>
  t.field({
    type: EssayType,
    nullable: true,
    description:
      'An essay that was written before, for whoever ordered it. Null when there is none of this id, when it is kept no ' +
      'longer, or when somebody else ordered it. This costs no call.',
    args: { id: t.arg.id({ required: true, description: 'The id that it was answered with.' }) },
    resolve: (_, { id }, { essayArchive, requestContext }) => essayArchive.find(id, requestContext),
  }),
);
