import { type EssayResult, essayLimits } from '../../essays/essays.ts';
import { builder } from './builder.ts';
import { essayCost } from './costs.ts';
import { EssayModeType, GenerateEssayResultType, WritingPurposeType } from './essay.ts';
import { essaysScope } from './scopes.ts';
import { paid } from './tags.ts';
import { stateTextLimit } from './text-limits.ts';

const GenerateEssayInputType = builder.inputType('GenerateEssayInput', {
  description: 'The essay to write.',
  fields: (t) => ({
    description: t.string({
      required: true,
      ...stateTextLimit(essayLimits.description, 'The topic and the points to cover.'),
    }),
    mode: t.field({ type: EssayModeType, required: true, defaultValue: 'STANDARD', description: 'The style.' }),
    wordCount: t.int({ required: true, description: `Maximum number of words, from 1 to ${essayLimits.wordCount}.` }),
    purpose: t.field({ type: WritingPurposeType, description: 'The purpose; null for none.' }),
    titles: t.stringList(
      stateTextLimit(essayLimits.title, `Up to ${essayLimits.titles} titles for the service to choose from.`),
    ),
    idempotencyKey: t.id(
      stateTextLimit(
        essayLimits.idempotencyKey,
        'A unique key for this order, such as a UUID created when the form is opened. The same order with the same key ' +
          'returns the same essay and is paid for once: send the key with every retry. A different order needs a ' +
          'different key.',
      ),
    ),
  }),
});

builder.mutationField('generateEssay', (t) =>
  t.field({
    extensions: essaysScope,
    type: GenerateEssayResultType,
    directives: [essayCost, paid],
    description:
      'Orders an essay. This takes up to two minutes. Each order is paid for; with the same idempotencyKey, retries ' +
      'return the same essay. If the client disconnects, the essay is still completed and stored.',
    args: { input: t.arg({ type: GenerateEssayInputType, required: true, description: 'The order.' }) },
    resolve: async (_, { input }, { services, budget, requestContext }): Promise<EssayResult> => {
      if (!budget.spend('essays')) {
        const { message } = budget.createLimitError('essays');
        return { kind: 'invalid-input', field: null, message, problems: [] };
      }
      const { purpose = null, titles, idempotencyKey = null } = input;
      return services.essays.generate({ ...input, purpose, titles: titles ?? [], idempotencyKey }, requestContext);
    },
  }),
);
