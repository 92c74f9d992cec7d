import type { ServiceName } from '../errors.ts';
import type { BudgetedCall } from '../request-context.ts';
import type { Allowance } from './allowance/allowance.ts';
import type { Reservation } from './allowance/period-count.ts';
import type { BudgetExhausted, Exhausted, Payer } from './operation.ts';

export type Reserved = Reservation | Exhausted | BudgetExhausted;

/** Counts a call immediately before it is sent; a promise only where it waits for the store. */
export type Reserve = (payer: Payer) => Reserved | Promise<Reserved>;

/** Counts in the gateway's allowance and, if the caller has one, in its own budget. */
export function createReserve(service: ServiceName, allowance: Pick<Allowance, 'reserve'>): Reserve {
  return ({ reserveCall }) => {
    const budgeted = reserveCall?.(service) ?? null;
    return budgeted === null ? allowance.reserve() : reserveBoth(budgeted);
  };

  async function reserveBoth(budgeted: BudgetedCall | Promise<BudgetedCall>): Promise<Reserved> {
    const budget = await budgeted;
    if (budget.kind === 'budget-exhausted') return budget;
    const reservation = await allowance.reserve();
    if (reservation.kind === 'exhausted') {
      budget.release();
      return reservation;
    }
    return {
      ...reservation,
      release() {
        budget.release();
        reservation.release();
      },
    };
  }
}
