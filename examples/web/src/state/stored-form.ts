import type { StartEssayInput } from '../gql/graphql.ts';

export type OrderInput = Pick<StartEssayInput, 'description' | 'mode' | 'purpose' | 'wordCount'>;

export interface StoredForm {
  /** Made with the form: whatever is sent from it is one order. */
  idempotencyKey: string;
  /** What was entered when it was sent; null in a new form. */
  input: OrderInput | null;
  /** Whether it was sent, and its answer is not known. */
  isSent: boolean;
}

/** The form of this tab, in sessionStorage. */
export const storedForm = {
  read(): StoredForm {
    const text = sessionStorage.getItem(key);
    return text === null ? storedForm.renew(null) : (JSON.parse(text) as StoredForm);
  },
  write(form: StoredForm): StoredForm {
    sessionStorage.setItem(key, JSON.stringify(form));
    return form;
  },
  /** A form for another order, with the entries of the last one. */
  renew: (input: OrderInput | null): StoredForm =>
    storedForm.write({ idempotencyKey: crypto.randomUUID(), input, isSent: false }),
};

const key = 'essay-form';
