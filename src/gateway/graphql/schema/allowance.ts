import type { BudgetStatus } from '../../callers/paid-budget.ts';
import type { AllowanceStatus } from '../../upstream/allowance/allowance.ts';
import { createUncountedError } from '../../upstream/upstream-error.ts';
import { builder, DateTimeType } from './builder.ts';

interface AllowanceOfCaller extends AllowanceStatus {
  callerBudget: BudgetStatus | null;
}

const ServiceType = builder.enumType('Service', {
  description: 'A paid service behind the gateway.',
  values: {
    BANK_DATA: { value: 'bank-data', description: 'Validates IBANs and BICs, and lists banks.' },
    ESSAYS: { value: 'essays', description: 'Writes essays.' },
  } as const,
});

const CallerBudgetType = builder.objectRef<BudgetStatus>('CallerBudget').implement({
  description: "The caller's own budget of paid calls to a service, in the current calendar day or month (UTC).",
  fields: (t) => ({
    used: t.exposeInt('used', { description: 'Paid calls that were made for the caller.' }),
    limit: t.exposeInt('limit', { description: 'Maximum paid calls in the period.' }),
    remaining: t.exposeInt('remaining', { description: 'Paid calls that remain in the period.' }),
    renewsAt: t.expose('renewsAt', { type: DateTimeType, description: 'Start of the next period.' }),
  }),
});

const AllowanceType = builder.objectRef<AllowanceOfCaller>('Allowance').implement({
  description: 'The monthly allowance of a service: used and remaining calls in the current calendar month (UTC).',
  fields: (t) => ({
    service: t.expose('service', { type: ServiceType, description: 'The service.' }),
    used: t.exposeInt('used', {
      description: 'Calls sent this month, or the number that the service reports if it is higher.',
    }),
    limit: t.exposeInt('limit', {
      nullable: true,
      description: 'Maximum calls per month, as configured or reported by the service; null if unknown.',
    }),
    remaining: t.exposeInt('remaining', {
      nullable: true,
      description: 'Calls that remain this month; at 0 the gateway sends none. Null if no limit is known.',
    }),
    renewsAt: t.expose('renewsAt', { type: DateTimeType, description: 'Start of the next month.' }),
    callerBudget: t.expose('callerBudget', {
      type: CallerBudgetType,
      nullable: true,
      description: "The caller's own budget; null if it has none.",
    }),
  }),
});

builder.queryField('allowances', (t) =>
  t.field({
    type: [AllowanceType],
    description: 'The monthly allowance of each service that the caller may use. Needs no upstream call.',
    resolve: async (_, _args, { services, caller }): Promise<AllowanceOfCaller[]> => {
      const allowances = services.allowances.filter(({ service }) => caller.scopes.has(service));
      return Promise.all(
        allowances.map(async (allowance) => {
          const status = await allowance.status();
          const callerBudget = await services.budgets.status(caller, allowance.service);
          if (status === null || (callerBudget && 'kind' in callerBudget))
            throw createUncountedError(allowance.service);
          return { ...status, callerBudget };
        }),
      );
    },
  }),
);
