import { generateIban } from '../iban/generate-iban.ts';
import type { BankDataPort } from './bank-data.ts';

/** Answers what arithmetic alone can answer, so that what cannot succeed never costs a paid call. */
export function prechecked(bankData: BankDataPort): BankDataPort {
  return {
    ...bankData,
    async generateIban(source, signal) {
      const generated = generateIban(source);
      if (generated.kind === 'iban') return bankData.generateIban(source, signal);
      const message = generated.faults.map((fault) => fault.message).join(' ');
      return { kind: 'invalid', message, faults: generated.faults };
    },
  };
}
