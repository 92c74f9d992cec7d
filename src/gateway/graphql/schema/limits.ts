import { registryRelease } from '../../../iban/registry-table.ts';
import { essayLimits } from '../../essays/port.ts';
import { builder } from './builder.ts';
import type { QueryLimits } from './query-limits.ts';

const LimitsType = builder.objectRef<QueryLimits>('Limits').implement({
  description:
    'Limits that the gateway checks without an upstream call. Numbers of IBANs, BICs and texts include duplicates and aliases.',
  fields: (t) => ({
    ibans: t.exposeInt('ibans', { description: 'IBANs per query.' }),
    bics: t.exposeInt('bics', { description: 'BICs per query.' }),
    bankQueries: t.exposeInt('bankQueries', { description: 'Bank lists and generated IBANs per query.' }),
    suggestions: t.exposeInt('suggestions', {
      description: 'Different invalid IBANs per query for which suggestions are computed.',
    }),
    entities: t.exposeInt('entities', { description: 'Entities per query of a router.' }),
    essays: t.exposeInt('essays', { description: 'Essays that a mutation may order.' }),
    essayTexts: t.exposeInt('essayTexts', { description: 'Texts of essays per response.' }),
    listedOrders: t.exposeInt('listedOrders', {
      description: 'Orders per query that `essayOrders` reads, whether it returns them or not.',
    }),
    storedBytes: t.exposeInt('storedBytes', {
      description: 'Bytes of stored orders and essays per query. Each is read once; aliases are not counted.',
    }),
    essayWords: t.int({ description: 'Words of an essay.', resolve: () => essayLimits.wordCount }),
    essayDescriptionLength: t.int({
      description: 'Characters of `GenerateEssayInput.description`.',
      resolve: () => essayLimits.description,
    }),
    essayTitles: t.int({ description: 'Titles of an order.', resolve: () => essayLimits.titles }),
    essayTitleLength: t.int({ description: 'Characters of a title.', resolve: () => essayLimits.title }),
    ibanRegistry: t.string({
      description: 'The release of the SWIFT IBAN registry by which IBANs are checked, such as `103 (September 2026)`.',
      resolve: () => registryRelease,
    }),
  }),
});

builder.queryField('limits', (t) =>
  t.field({
    type: LimitsType,
    description: 'The limits of this gateway, for forms and for clients that split long lists. Needs no upstream call.',
    resolve: (_, __, { services }) => services.limits,
  }),
);
