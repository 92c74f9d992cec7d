import type { AllowanceStatus } from '../../upstream/allowance/allowance.ts';
import { builder } from './builder.ts';
import { DateTimeType } from './date-time.ts';

const ServiceType = builder.enumType('Service', {
  description: 'A service behind the gateway whose calls are paid for.',
  values: {
    BANK_DATA: { value: 'bank-data', description: 'Validates IBANs and BICs, and lists banks.' },
    ESSAYS: { value: 'essays', description: 'Writes essays.' },
  } as const,
});

const AllowanceType = builder.objectRef<AllowanceStatus>('Allowance').implement({
  description: 'What may be spent on a service in the current calendar month (UTC), and what was.',
  fields: (t) => ({
    service: t.expose('service', { type: ServiceType, description: 'Which service.' }),
    used: t.exposeInt('used', {
      description: 'Calls that the gateway sent this month, or what the service says of them where that is more.',
    }),
    limit: t.exposeInt('limit', {
      nullable: true,
      description:
        'Most calls per month: the configured limit, or what the service told where less is left of that. Null while neither is known.',
    }),
    remaining: t.exposeInt('remaining', {
      nullable: true,
      description: 'How many calls are left of that limit; at 0 none is sent. Null while no limit is known.',
    }),
    renewsAt: t.expose('renewsAt', { type: DateTimeType, description: 'When the next month begins.' }),
  }),
});

builder.queryField('allowances', (t) =>
  t.field({
    type: [AllowanceType],
    description: 'What is left of each service. This costs no call.',
    resolve: async (_, _args, { allowances }) => [...(await allowances())],
  }),
);
