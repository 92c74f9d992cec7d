import { createLog } from '../base/log.ts';
import { createRedact } from '../base/redact.ts';
import { runService } from '../base/rest-service.ts';
import { type LlmConfig, readEssayServiceConfig } from '../base/variables/service-config.ts';
import { createEssayService } from './create-essay-service.ts';
import { createDraftingWriter } from './drafting-writer.ts';
import { createLlmWriter } from './llm/llm-writer.ts';
import type { Writer } from './writing-order.ts';

/** Serves until SIGTERM or SIGINT, as configured by the environment. */
export async function runEssayService(port: number): Promise<void> {
  const { host, logLevel, apiKey, llm, monthlyAllowance, wordDelayMs } = readEssayServiceConfig(process.env);
  const redact = createRedact([apiKey, llm?.apiKey ?? '']);
  // Standard output is for the address of the service and its writer; errors go to standard error.
  const log = createLog({ level: logLevel, redact, destination: process.stderr });
  const app = createEssayService({ apiKey, writer: createEssayWriter(llm, wordDelayMs), monthlyAllowance, log });
  await runService({ name: 'essay', app, host, port });
  process.stdout.write(`It writes with ${describeWriter(llm, wordDelayMs)}.\n`);
}

/** The language model if one is configured, otherwise the offline drafter. */
export function createEssayWriter(llm: LlmConfig | null, wordDelayMs = 0): Writer {
  return llm ? createLlmWriter(llm) : createDraftingWriter({ wordDelayMs });
}

/** Describes the writer for an operator. Contains no key and no URL. */
export function describeWriter(llm: LlmConfig | null, wordDelayMs = 0): string {
  if (llm) return `the language model ${llm.model}`;
  const drafter =
    'an offline drafter, not a language model: it arranges the content of the description and adds no facts';
  return wordDelayMs === 0 ? drafter : `${drafter}, and waits ${wordDelayMs} ms before each word (ESSAY_WRITER_DELAY)`;
}
