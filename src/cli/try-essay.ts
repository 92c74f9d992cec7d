import { createInterface } from 'node:readline/promises';
import { AbortableSignal } from '../base/async/signal.ts';
import { ConfigError, UsageError } from '../base/errors.ts';
import { countOf } from '../base/process/terminal.ts';
import { countWords } from '../base/words.ts';
import { type Config, readConfig, type UpstreamAccess } from '../gateway/config/read-config.ts';
import type { EssayResult, OrderInput } from '../gateway/essays/port.ts';
import { Stream, TextParser } from '../gateway/essays/rest/read-body.ts';
import { readEssay } from '../gateway/essays/rest/read-essay.ts';
import { createRestEssays } from '../gateway/essays/rest/rest-essays.ts';
import { createRequestContext } from '../gateway/request-context.ts';
import type { Answered, Outcome } from '../gateway/upstream/outcome.ts';
import { openPaidCalls } from './paid-calls.ts';

interface TryOptions {
  description?: string;
  words?: string;
  yes?: true;
}

/**
 * Makes one order with the configured essay service, which may be charged, and prints what it answered, what the gateway would take as
 * the essay, and the line for the configuration. The exit code is 1 if there is no essay.
 * @throws ConfigError, UsageError
 */
export async function tryEssay({
  description = 'The fountain pen: its reservoir, its feed and its nib',
  words = '100',
  yes,
}: TryOptions) {
  const config = readConfig(process.env);
  const { upstream } = config.essays;
  if (upstream === null) {
    throw new ConfigError([
      'ESSAY_URL: must be set to the service to try; the format of the self-hosted service is known',
    ]);
  }
  if (!/^\d{1,4}$/.test(words) || +words < 1 || +words > 2_000) {
    throw new UsageError(`--words must be a whole number from 1 to 2000, but is ${JSON.stringify(words)}`);
  }
  if (!yes && !(await hasConsent(upstream))) return;
  const input = { description, mode: 'STANDARD', wordCount: +words, purpose: null, titles: [] } as const;
  const { result, outcome } = await placeOrder(config, upstream, { ...input, idempotencyKey: null, orderAgain: false });
  if (result.kind !== 'essay') process.exitCode = 1;
  const lines = outcome?.kind === 'answered' ? describeAnswer(outcome, config, input) : [];
  process.stdout.write(
    `${[...lines, ...(result.kind === 'essay' ? [] : [`No essay: ${result.message}`])].join('\n')}\n`,
  );
}

/** @throws UsageError without a terminal */
async function hasConsent({ url }: UpstreamAccess): Promise<boolean> {
  if (!process.stdin.isTTY)
    throw new UsageError('--yes must confirm that the order may be charged, as there is no terminal to ask');
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  const answer = await terminal.question(
    `One essay will be ordered from ${url}, which may be charged. Continue? (yes/no) `,
  );
  terminal.close();
  return /^y(?:es)?$/i.test(answer.trim());
}

async function placeOrder(
  config: Config,
  access: UpstreamAccess,
  order: OrderInput,
): Promise<{ result: EssayResult; outcome: Outcome | null }> {
  const { createUpstream, redact, events, close } = await openPaidCalls(config, { access, logLevel: 'error' });
  const { client, allowance } = createUpstream('essays', access, 'token', config.essays);
  let outcome: Outcome | null = null;
  const { modeNames, declared } = config.essays;
  const onOutcome = (received: Outcome) => {
    outcome = received;
  };
  const sender = createRestEssays({ client, modeNames, declared, keepMs: 0, redact, onOutcome, events });
  try {
    const context = createRequestContext(new AbortableSignal(), 'try-essay', null, null, { caller: 'cli:try-essay' });
    let step = await sender.reserve(order, context);
    while (step.kind === 'slot') step = await step.send();
    return { result: step, outcome };
  } finally {
    await client.close();
    await allowance.flush();
    await close();
  }
}

type Ordered = Pick<OrderInput, 'description' | 'wordCount'>;

function describeAnswer(answer: Answered, { essays: { declared } }: Config, order: Ordered): string[] {
  const { status, text, json } = answer;
  const lines = [`Status ${status}, with these values:`, ...listValues(json ?? text)];
  const isSuccess = status >= 200 && status < 300;
  const found = isSuccess ? readEssay(answer, order, order.description.trim(), declared) : null;
  if (found === null)
    return isSuccess ? [...lines, 'If one of them is an essay, declare its path in ESSAY_TEXT_FIELD.'] : lines;
  const paths = found.paths.join(',');
  lines.push(`The essay: ${paths}, ${countOf(countWords(found.text), 'word')}`);
  if (declared.texts !== null) return [...lines, 'It was read as ESSAY_TEXT_FIELD declares it.'];
  const unaltered = readEssay(answer, order, order.description.trim(), { ...declared, texts: found.paths });
  lines.push('It was guessed. To declare it, set', `ESSAY_TEXT_FIELD=${paths}`);
  return unaltered?.text === found.text
    ? lines
    : [...lines, `Then the text is delivered unaltered: ${shorten(unaltered?.text)}`];
}

/** The values of a body with their paths, and the first ones of lists. */
function listValues(value: unknown, path = ''): string[] {
  const body = typeof value === 'string' ? new TextParser().parse(value) : value;
  if (typeof body !== 'object' || body === null) return [`  ${path || '$'}  ${shorten(body)}`];
  const entries = Object.entries(body);
  const shown = entries.slice(0, Array.isArray(body) ? 3 : 50);
  const pathOf = (key: string) => {
    if (body instanceof Stream) return path;
    return Array.isArray(body) ? `${path}[${key}]` : path + (path === '' ? '' : '.') + key;
  };
  const lines = shown.flatMap(([key, child]) => listValues(child, pathOf(key)));
  const more = entries.length - shown.length;
  return more === 0 ? lines : [...lines, `  ${path || '$'}  and ${countOf(more, 'more value')}`];
}

function shorten(value: unknown): string {
  const text = JSON.stringify(value) ?? '';
  return text.length <= 80 ? text : `${text.slice(0, 60)}..." (${countOf(countWords(text), 'word')})`;
}
