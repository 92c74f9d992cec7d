import type { IbanData } from '../../bank-data/bank-data.ts';
import { builder } from './builder.ts';
import { personalData } from './tags.ts';

export const IbanDataType = builder.objectRef<IbanData>('IbanData').implement({
  description:
    'The parts of an IBAN, from the bank-data service, or from the SWIFT registry format if only the check digits ' +
    'are wrong.',
  fields: (t) => ({
    country: t.exposeString('country', {
      nullable: true,
      description: 'Name of the country, in English; null if unknown.',
    }),
    countryCode: t.exposeString('countryCode', {
      description: 'ISO 3166-1 alpha-2 code of the country; XK for Kosovo.',
    }),
    sepaCountry: t.exposeBoolean('sepaCountry', {
      nullable: true,
      description: 'Whether the country takes part in SEPA; null if the service does not report it.',
    }),
    checksum: t.exposeString('checksum', {
      directives: [personalData],
      description: 'The two check digits of the IBAN.',
    }),
    bban: t.exposeString('bban', {
      directives: [personalData],
      description: 'The basic bank account number (BBAN): the IBAN without its first 4 characters.',
    }),
    bankCode: t.exposeString('bankCode', { nullable: true, description: 'The national bank code; null if unknown.' }),
    accountNumber: t.exposeString('accountNumber', {
      directives: [personalData],
      nullable: true,
      description:
        'The BBAN after bank code and branch, including national check digits; null if unknown. generateIban may need a ' +
        'shorter value: see IbanCountry.ibanFields.',
    }),
    branch: t.exposeString('branch', {
      nullable: true,
      description: 'The branch code; null if the country has none.',
    }),
    nationalChecksum: t.exposeString('nationalChecksum', {
      directives: [personalData],
      nullable: true,
      description: 'The national check digits; null if the country has none at a fixed position.',
    }),
    countryIbanFormatAsSwift: t.exposeString('countryIbanFormatAsSwift', {
      nullable: true,
      description: "The country's IBAN format in SWIFT notation, such as DE2!n8!n10!n; null if unknown.",
    }),
    countryIbanFormatAsRegex: t.exposeString('countryIbanFormatAsRegex', {
      nullable: true,
      description: "The country's IBAN format as a regular expression for an IBAN without spaces; null if unknown.",
    }),
  }),
});
