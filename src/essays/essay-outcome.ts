import type { EssayOutcome } from '../telemetry/events.ts';
import type { EssayResult } from './essays.ts';

/** @param isNew whether it was not the result of an earlier order with the same key */
export function essayOutcome({ kind }: EssayResult, isNew: boolean): EssayOutcome {
  return kind === 'essay' && !isNew ? 'from_key' : outcomes[kind];
}

const outcomes: Readonly<Record<EssayResult['kind'], EssayOutcome>> = {
  essay: 'generated',
  'invalid-input': 'rejected',
  'allowance-exhausted': 'exhausted',
  'service-failed': 'failed',
};
