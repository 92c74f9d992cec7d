import type { AllowanceStatus } from '../../upstream/allowance/allowance.ts';
import { builder } from './builder.ts';
import { DateTimeType } from './date-time.ts';

const ServiceType = builder.enumType('Service', {
  description: 'A paid service behind the gateway.',
  values: {
    BANK_DATA: { value: 'bank-data', description: 'Validates IBANs and BICs, and lists banks.' },
    ESSAYS: { value: 'essays', description: 'Writes essays.' },
  } as const,
});

const AllowanceType = builder.objectRef<AllowanceStatus>('Allowance').implement({
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
  }),
});

builder.queryField('allowances', (t) =>
  t.field({
    type: [AllowanceType],
    description: 'The monthly allowance of each service. Needs no upstream call.',
    resolve: async (_, _args, { services }) => [...(await services.allowances())],
  }),
);
