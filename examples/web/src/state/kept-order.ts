import type { GenerateEssayInput } from '../gql/graphql.ts';

/** An order as it was sent. */
export interface KeptOrder {
  input: GenerateEssayInput & { idempotencyKey: string };
  /** Sent, and not known to have failed: a reload sends it again, which does not cost anything more. */
  isOpen: boolean;
}

/** Of this tab alone, and gone with it. */
export const keptOrder = {
  read(): KeptOrder | null {
    const text = sessionStorage.getItem(name);
    return text === null ? null : (JSON.parse(text) as KeptOrder);
  },
  write(order: KeptOrder): void {
    sessionStorage.setItem(name, JSON.stringify(order));
  },
};

const name = 'essay-order';
