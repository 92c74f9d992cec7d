import type { GenerateEssayInput } from '../gql/graphql.ts';

export interface StoredOrder {
  input: GenerateEssayInput & { idempotencyKey: string };
  /** When the user sent it, in milliseconds since 1970. A reload does not change it. */
  sentAt: number;
  /** Not known to have failed. A reload sends it again, which is free because of its idempotency key. */
  isOpen: boolean;
}

/** The last order of this tab, in sessionStorage. */
export const storedOrder = {
  read(): StoredOrder | null {
    const text = sessionStorage.getItem(key);
    return text === null ? null : (JSON.parse(text) as StoredOrder);
  },
  write(order: StoredOrder): void {
    sessionStorage.setItem(key, JSON.stringify(order));
  },
};

const key = 'essay-order';
