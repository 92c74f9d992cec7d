import type { RuleCode } from './rules.ts';

/** Ends the check: the rest of the file cannot be read, or must not be. Its message never contains text of the file. */
export class Refusal extends Error {
  readonly code: RuleCode;

  constructor(code: RuleCode, message: string) {
    super(message);
    this.name = 'Refusal';
    this.code = code;
  }
}
