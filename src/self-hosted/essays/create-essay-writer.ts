import type { LlmConfig } from '../../config/service-config.ts';
import { createDraftingWriter } from './drafting/drafting-writer.ts';
import type { EssayWriter } from './essay-writer.ts';
import { createLlmWriter } from './llm/llm-writer.ts';

/** The writer that the configuration asks for: a language model where one is named, else the offline drafter. */
export function createEssayWriter(llm: LlmConfig | null): EssayWriter {
  return llm ? createLlmWriter(llm) : createDraftingWriter();
}

/** Who writes, in words for an operator. Never holds a key or a URL. */
export function describeWriter(llm: LlmConfig | null): string {
  if (llm) return `the language model ${llm.model}`;
  return 'an offline drafter, not a language model: it arranges what the description says and adds no facts';
}
