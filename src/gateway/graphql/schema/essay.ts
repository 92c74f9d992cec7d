import type { UpstreamErrorCode } from '../../../base/errors.ts';
import {
  type Essay,
  type EssayAllowanceExhausted,
  type EssayFieldProblem,
  type EssayInput,
  type EssayOrder,
  type EssayResult,
  type EssayServiceFailed,
  type Essays,
  type EssayWriter,
  essayLimits,
  type InvalidEssayInput,
  type OrderCaller,
  type OrderInput,
} from '../../essays/port.ts';
import { builder, DateTimeType, NodeType, UserErrorType } from './builder.ts';
import type { Context } from './context.ts';
import { essayCost, longTextCost, paid, textReadingCost } from './directives.ts';
import { essaysScope, limitText, maxLengths, stateTextLimit } from './field-checks.ts';
import type { QueryLimiter } from './query-limits.ts';

const EssayModeType = builder.enumType('EssayMode', {
  description: 'The style of an essay.',
  values: {
    STANDARD: { description: 'Plain and balanced.' },
    ACADEMIC: { description: 'For a seminar or a journal.' },
    PROFESSIONAL: { description: 'For colleagues and clients.' },
    NEWS_REPORT: { description: 'Like a newspaper report.' },
    DETAILED: {
      description:
        'At length. The service names this mode as an example, but not in its list of modes, and may refuse it.',
    },
  } as const,
});

const WritingPurposeType = builder.enumType('WritingPurpose', {
  description: 'The purpose of an essay.',
  values: {
    NARRATIVE: { description: 'Narrate events.' },
    ARGUMENTATIVE: { description: 'Take a position and give reasons.' },
    EXPOSITORY: { description: 'Explain a subject.' },
    DESCRIPTIVE: { description: 'Describe a person, place or thing.' },
  } as const,
});

const EssayWriterType = builder.enumType('EssayWriter', {
  description: 'What wrote an essay.',
  values: {
    DRAFTER: {
      description:
        'The offline drafter of the self-hosted essay service in the gateway: a draft that arranges the description, with no language model.',
    },
    MODEL: { description: 'The language model of the self-hosted essay service in the gateway.' },
    SERVICE: { description: 'An essay service at ESSAY_URL, also a self-hosted one in a process of its own.' },
  } satisfies Record<EssayWriter, { description: string }>,
});

export const EssayInputType = builder.objectRef<EssayInput>('EssayInput').implement({
  description: 'What an essay is about, as it was ordered.',
  fields: (t) => ({
    description: t.exposeString('description', {
      directives: [longTextCost],
      description: 'The topic and the points to cover.',
    }),
    mode: t.expose('mode', { type: EssayModeType, description: 'The style.' }),
    wordCount: t.exposeInt('wordCount', { description: 'Maximum number of words.' }),
    purpose: t.expose('purpose', {
      type: WritingPurposeType,
      nullable: true,
      description: 'The purpose; null for none.',
    }),
    titles: t.exposeStringList('titles', {
      directives: [textReadingCost],
      extensions: { maxItems: essayLimits.titles },
      description: 'Titles for the service to choose from.',
    }),
  }),
});

export const EssayType = builder.objectRef<Essay>('Essay').implement({
  interfaces: [NodeType],
  description: 'A written essay.',
  fields: (t) => ({
    id: t.exposeID('id', {
      description: 'With this id, the client that ordered the essay can query `essay(id:)` while it is stored.',
    }),
    text: t.string({
      directives: [longTextCost],
      description: 'The text; line breaks separate paragraphs. At most `limits.essayTexts` per response.',
      resolve: ({ text }, _, { limiter }) => countText(text, limiter),
    }),
    title: t.string({
      nullable: true,
      directives: [textReadingCost],
      description: 'The title in the first line of the text; null if it has none.',
      resolve: ({ text }) => readTitle(text),
    }),
    wordCount: t.exposeInt('wordCount', { description: 'Number of words in the text.' }),
    mode: t.expose('mode', { type: EssayModeType, description: 'The style that was ordered.' }),
    writer: t.expose('writer', { type: EssayWriterType, description: 'What wrote the essay.' }),
    createdAt: t.expose('createdAt', { type: DateTimeType, description: 'When it was received.' }),
    keptUntil: t.expose('keptUntil', { type: DateTimeType, description: 'Until when it is stored.' }),
    isStored: t.boolean({
      description:
        'Whether it is stored. False while the store of the gateway fails: it is lost if the gateway ends before the store works again.',
      resolve: ({ isStored }) => isStored !== false,
    }),
    input: t.expose('input', { type: EssayInputType, description: 'What was ordered.' }),
  }),
});

const InvalidEssayFieldReasonType = builder.enumType('InvalidEssayFieldReason', {
  description: 'Why an input field of an order is invalid.',
  values: {
    REQUIRED: { description: 'The text is empty.' },
    TOO_LONG: { description: 'The text has too many characters.' },
    TOO_MANY: { description: 'There are too many titles.' },
    OUT_OF_RANGE: { description: 'The number is too small or too large.' },
    KEY_REUSED: { description: 'The idempotencyKey was used for a different order.' },
  } satisfies Record<EssayFieldProblem['reason'], { description: string }>,
});

const InvalidEssayFieldType = builder.objectRef<EssayFieldProblem>('InvalidEssayField').implement({
  description: 'A problem with an input field.',
  fields: (t) => ({
    name: t.exposeString('field', { description: 'Field of GenerateEssayInput or StartEssayInput.' }),
    reason: t.expose('reason', { type: InvalidEssayFieldReasonType, description: 'What is wrong, for programs.' }),
    min: t.int({
      nullable: true,
      description: 'The least that is allowed, in the unit of `max`.',
      resolve: ({ range }) => range?.min,
    }),
    max: t.int({
      nullable: true,
      description:
        'The most that is allowed: words for OUT_OF_RANGE, titles for TOO_MANY, otherwise characters of a text; null if there is no ' +
        'limit.',
      resolve: ({ range }) => range?.max,
    }),
    message: t.exposeString('message', { description: 'What is wrong and what would be valid, for users.' }),
  }),
});

export const InvalidEssayInputType = builder.objectRef<InvalidEssayInput>('InvalidEssayInput').implement({
  description: 'The input is not valid and must be changed. No essay was written.',
  interfaces: [UserErrorType],
  fields: (t) => ({
    fields: t.expose('problems', {
      type: [InvalidEssayFieldType],
      // Titles may have three problems.
      extensions: { maxItems: 6 },
      description: 'All problems of the input; empty if the service does not report which fields are invalid.',
    }),
  }),
});

export const EssayAllowanceExhaustedType = builder
  .objectRef<EssayAllowanceExhausted>('EssayAllowanceExhausted')
  .implement({
    description:
      "The allowance of the essay service, or the client's budget, is exhausted, or the service has asked not to be called; " +
      'the message says which.',
    interfaces: [UserErrorType],
    fields: (t) => ({
      renewsAt: t.expose('renewsAt', {
        type: DateTimeType,
        nullable: true,
        description:
          'When orders are accepted again, at most a month from now; null if the service does not report that.',
      }),
    }),
  });

const UpstreamErrorCodeType = builder.enumType('UpstreamErrorCode', {
  description: 'How a service failed.',
  values: {
    UPSTREAM_REJECTED_CREDENTIALS: { description: "It rejected the gateway's key: contact the operator." },
    UPSTREAM_ALLOWANCE_EXHAUSTED: {
      description:
        'Its allowance is exhausted, or it has asked not to be called: wait until the date in the message; without one, ' +
        'contact the operator.',
    },
    UPSTREAM_UNAVAILABLE: {
      description: 'It was not called: it keeps failing, too many calls wait, or a store failed. Retry later.',
    },
    UPSTREAM_TIMED_OUT: {
      description: 'It did not respond completely before the deadline: retry later, if `retryable` is true.',
    },
    UPSTREAM_FAILED: { description: 'It failed, closed the connection, or sent a response that cannot be parsed.' },
  } satisfies Record<UpstreamErrorCode, { description: string }>,
});

export const EssayServiceFailedType = builder.objectRef<EssayServiceFailed>('EssayServiceFailed').implement({
  description: 'No essay was received. The order may have been paid for, unless `code` is UPSTREAM_UNAVAILABLE.',
  interfaces: [UserErrorType],
  fields: (t) => ({
    code: t.expose('code', {
      type: UpstreamErrorCodeType,
      description: 'How it failed; the same codes as in extensions.code of errors.',
    }),
    retryable: t.exposeBoolean('retryable', {
      description:
        'Whether the same order may succeed if sent again. False if it was sent and the service has not refused it: it may ' +
        'have been paid for, and its idempotencyKey returns this failure until the order has orderAgain.',
    }),
    rawText: t.string({
      nullable: true,
      directives: [longTextCost],
      resolve: ({ rawText }, _, { limiter }) => rawText && countText(rawText, limiter),
      description: 'Received text of a paid response that is incomplete or cannot be parsed; otherwise null.',
    }),
  }),
});

const GenerateEssayResultType = builder.unionType('GenerateEssayResult', {
  description: 'The essay, or why there is none.',
  types: [EssayType, InvalidEssayInputType, EssayAllowanceExhaustedType, EssayServiceFailedType],
  resolveType: (result) => resultTypes[(result as EssayResult).kind],
});

export const resultTypes = {
  essay: EssayType,
  'invalid-input': InvalidEssayInputType,
  'allowance-exhausted': EssayAllowanceExhaustedType,
  'service-failed': EssayServiceFailedType,
};

builder.queryField('essay', (t) =>
  t.field({
    extensions: essaysScope,
    type: EssayType,
    nullable: true,
    description:
      'A stored essay. Null if the id is unknown, the essay is no longer stored, or another client ordered it. Needs no ' +
      'upstream call.',
    args: {
      id: t.arg.id({ required: true, ...limitText('id', maxLengths.id, '`Essay.id`, as returned by generateEssay.') }),
    },
    resolve: (_, { id }, { loaders }) => loaders.findEssay(id),
  }),
);

const idempotencyKey = stateTextLimit(
  essayLimits.idempotencyKey,
  'A unique key for this order, such as a UUID created when the form is opened. The same order with the same key returns the same ' +
    'essay and is paid for once: send the key with every retry. A different order needs a different key.',
);

const GenerateEssayInputType = builder.inputType('GenerateEssayInput', {
  description: 'The essay to write.',
  fields: (t) => ({ ...orderFields(t), idempotencyKey: t.id(idempotencyKey) }),
});

export const StartEssayInputType = builder.inputType('StartEssayInput', {
  description: 'The essay to write, and the key by which its order is found again.',
  fields: (t) => ({ ...orderFields(t), idempotencyKey: t.id({ required: true, ...idempotencyKey }) }),
});

/** What both ways to order an essay have. */
function orderFields(t: PothosSchemaTypes.InputFieldBuilder<typeof builder.$inferSchemaTypes, 'InputObject'>) {
  return {
    description: t.string({
      required: true,
      ...stateTextLimit(essayLimits.description, 'The topic and the points to cover.'),
    }),
    mode: t.field({ type: EssayModeType, defaultValue: 'STANDARD', description: 'The style.' }),
    wordCount: t.int({ required: true, description: `Maximum number of words, from 1 to ${essayLimits.wordCount}.` }),
    purpose: t.field({ type: WritingPurposeType, description: 'The purpose; null for none.' }),
    titles: t.stringList(
      stateTextLimit(essayLimits.title, `Up to ${essayLimits.titles} titles for the service to choose from.`),
    ),
    orderAgain: t.boolean({
      defaultValue: false,
      description:
        'Whether to order the essay again if an earlier attempt with the same idempotencyKey was sent and may have been paid ' +
        'for, because no essay was received and the service has not refused it: both may be paid for. With startEssay, also ' +
        'if the order has failed in another way or was cancelled. No effect in any other case.',
    }),
  };
}

builder.mutationField('generateEssay', (t) =>
  t.field({
    extensions: essaysScope,
    type: GenerateEssayResultType,
    directives: [essayCost, paid],
    description:
      'Orders an essay. This takes up to two minutes. Each order is paid for; with the same idempotencyKey, retries ' +
      'return the same essay, and `essayOrder` finds the order from when it is sent. If the client disconnects, the essay is still ' +
      'completed and stored. At most `limits.essays` per mutation.',
    args: { input: t.arg({ type: GenerateEssayInputType, required: true, description: 'The order.' }) },
    resolve: (_, { input }, context) =>
      placeOrder(context, (essays, caller) =>
        essays.generate(readOrder(input, input.idempotencyKey ?? null), caller, context.requestContext),
      ),
  }),
);

/** Orders an essay, unless the mutation may order no more, and notes what its field returns. */
export async function placeOrder<Placed extends EssayResult | EssayOrder>(
  { services, caller, limiter, requestContext }: Context,
  place: (essays: Essays, caller: OrderCaller) => Promise<Placed>,
): Promise<Placed | InvalidEssayInput> {
  const isAllowed = limiter.tryTake('essays');
  const result = isAllowed
    ? await place(services.essays, caller)
    : { kind: 'invalid-input' as const, message: limiter.createLimitError('essays').message, problems: [] };
  const isOrder = !('kind' in result);
  const code = isOrder || result.kind === 'essay' ? null : 'code' in result ? result.code : 'BAD_USER_INPUT';
  requestContext.outcomes.push({ type: isOrder ? 'EssayOrder' : resultTypes[result.kind].name, code });
  return result;
}

export function readOrder<Key extends string | null>(
  input: Omit<typeof GenerateEssayInputType.$inferInput, 'idempotencyKey'>,
  idempotencyKey: Key,
): OrderInput & { idempotencyKey: Key } {
  const { description, wordCount, mode, purpose, titles, orderAgain } = input;
  return {
    description,
    wordCount,
    mode: mode ?? 'STANDARD',
    purpose: purpose ?? null,
    titles: titles ?? [],
    idempotencyKey,
    orderAgain: orderAgain ?? false,
  };
}

/** Aliases repeat a text, which is long. */
export function countText(text: string, limiter: QueryLimiter): string {
  limiter.take('essayTexts');
  return text;
}

/** A heading, or a short first line without a full stop, with text after it. */
function readTitle(text: string): string | null {
  const begun = text.trimStart();
  const lineLength = begun.indexOf('\n');
  if (lineLength === -1 || lineLength > maxTitleLineLength) return null;
  const line = begun.slice(0, lineLength).trim();
  const rest = begun.slice(lineLength + 1);
  const heading = /^#{1,6}\s+(.+?)\s*#*$/.exec(line)?.[1] ?? null;
  const title = heading ?? line.replace(/^\*\*(.+)\*\*$/, '$1');
  const isTitle =
    heading !== null || (/^\r?\n/.test(rest) && title.length <= essayLimits.title && !/[.:;,]$/.test(title));
  return isTitle && rest.trim() !== '' ? title : null;
}

/** Longer lines are no headings, and would take the time of their length squared. */
const maxTitleLineLength = 1_000;
