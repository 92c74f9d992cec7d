import type { LlmConfig } from '../../config/service-config.ts';
import { createDraftingWriter } from './drafting/drafting-writer.ts';
import type { EssayWriter } from './essay-writer.ts';
import { createLlmWriter } from './llm/llm-writer.ts';

/** The language model if one is configured, otherwise the offline drafter. */
export function createEssayWriter(llm: LlmConfig | null): EssayWriter {
  return llm ? createLlmWriter(llm) : createDraftingWriter();
}

/** Describes the writer for an operator. Contains no key and no URL. */
export function describeWriter(llm: LlmConfig | null): string {
  if (llm) return `the language model ${llm.model}`;
  return 'an offline drafter, not a language model: it arranges the content of the description and adds no facts';
}
