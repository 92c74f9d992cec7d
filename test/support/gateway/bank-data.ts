import type { BankDataPort, BankListRequest } from '../../../src/gateway/bank-data/bank-data.ts';
import { createBankData } from '../../../src/gateway/bank-data/cached-bank-data.ts';
import { createLookUpCache } from '../../../src/gateway/bank-data/look-up-cache.ts';
import type { LookUpCall, RestBankData, SettleLookUp } from '../../../src/gateway/bank-data/rest/rest-bank-data.ts';
import { Batch } from '../../../src/gateway/upstream/batch.ts';
import type { IbanFieldValues } from '../../../src/iban/build-iban.ts';

/** A service whose functions return promises. */
export interface TBankData {
  validateIban(iban: string): Promise<Answer<'validateIban'>>;
  validateBic(bic: string): Promise<Answer<'validateBic'>>;
  generateIban(values: IbanFieldValues): Promise<Answer<'generateIban'>>;
  listBanks(listing: BankListRequest): Promise<Answer<'listBanks'>>;
}

type Answer<Name extends keyof RestBankData> = RestBankData[Name] extends (...args: infer Args) => void
  ? Args extends [...unknown[], SettleLookUp<infer Answer>]
    ? Answer
    : never
  : never;

/** The port in front of a service, without calls. Nothing stays in its cache. */
export function tBankDataPort(service: TBankData): BankDataPort {
  const { findAll, findOne } = createLookUpCache({
    client: { open: (context) => new Batch(context, 60_000) },
    ...{ freshMs: 0, maxAgeMs: 0, maxBytes: 1, maxConcurrency: 1_000 },
    events: { flightJoined() {} },
  });
  const settled = <Input, Found>(find: (input: Input) => Promise<Found>) => {
    return (input: Input, _: LookUpCall, settle: SettleLookUp<Found>) =>
      void find(input).then(
        (answer) => settle(answer, null),
        (failure) => settle(null, failure),
      );
  };
  const listBanks = settled(service.listBanks);
  const generateIban = settled(service.generateIban);
  return createBankData(
    { findAll, findOne },
    {
      validateIban: settled(service.validateIban),
      validateBic: settled(service.validateBic),
      generateIban: ({ values }, call, settle) => generateIban(values, call, settle),
      listBanks: (listing, _, call, settle) => listBanks(listing, call, settle),
    },
  );
}
