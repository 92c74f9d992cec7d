import { createTimeSlices } from '../../../../src/base/async/time-slices.ts';
import { GatewayError } from '../../../../src/base/errors.ts';
import type {
  BankData,
  BankDataPort,
  BankListRequest,
  BicValidation,
  IbanValidation,
} from '../../../../src/gateway/bank-data/bank-data.ts';
import { createBankData } from '../../../../src/gateway/bank-data/cached-bank-data.ts';
import { createLookUpCache } from '../../../../src/gateway/bank-data/look-up-cache.ts';
import type { LookUpCall, RestBankData, SettleLookUp } from '../../../../src/gateway/bank-data/rest/rest-bank-data.ts';
import type { Essay, EssayOrder, EssayOrderState, Essays } from '../../../../src/gateway/essays/port.ts';
import type { Services } from '../../../../src/gateway/graphql/schema/context.ts';
import { createIbanIds } from '../../../../src/gateway/graphql/schema/iban-ids.ts';
import { Batch } from '../../../../src/gateway/upstream/batch.ts';
import type { IbanFieldValues } from '../../../../src/iban/build-iban.ts';
import { turns } from '../../turns.ts';
import type { Texts } from './random-documents.ts';

const ibans = [
  'DE89370400440532013000',
  'FR1420041010050500013M02606',
  'GB29NWBK60161331926819',
  'NL91ABNA0417164300',
  'AT611904300234573201',
  'BE68539007547034',
  'ES9121000418450200051332',
  'de89 3704 0044 0532 0130 01',
  'not an IBAN',
];

/** Each of these has its own result in `tServices`, or is invalid. */
export const texts: Texts = {
  iban: ibans,
  ibans,
  bic: ['COBADEFFXXX', 'MARKDEFF', 'BNPAFRPP', 'no BIC', 'DEUTDEFF500'],
  code: ['DE', 'FR', 'gb', 'XX', '', 'GP'],
  country: ['DE', 'FR', 'XX'],
  bankCode: ['37040044', '1'],
  branch: ['', '01005'],
  accountNumber: ['0532013000', 'x'],
  id: ['known', 'failing', 'unknown'],
  after: ['b2Zmc2V0OjE', 'x'],
  name: ['BankData', 'EssayMode', '__Type', 'Missing', 'constructor'],
  other: ['Pens', '', '"; process.exit() //', '\\"', '$' + '{1}`', '\u2028\u2029', '</script>', '__proto__'],
};

/** Services whose results depend on their input only: values, failures and faults. They arrive in another order than requested. */
export function tServices(): Services {
  const bankData = tBankDataPort({
    validateIban,
    validateBic,
    async generateIban({ country }) {
      await turns(1);
      if (country === 'FR')
        return {
          kind: 'invalid',
          message: 'Wrong.',
          problems: [{ field: 'branch', reason: 'NOT_IN_COUNTRY', length: null, message: 'No.' }],
          suggestions: [],
        };
      return { kind: 'iban', validation: createValidation('DE89370400440532013000', 0) };
    },
    async listBanks({ country, limit, offset }) {
      await turns(2);
      if (country === 'FR')
        throw new GatewayError('UPSTREAM_ALLOWANCE_EXHAUSTED', 'None left.', { service: 'bank-data' });
      const banks = Array.from({ length: Math.min(limit, 3) }, (_, index) => ({
        bank: createBank(`BIC${index}`),
        offset: offset + index,
      }));
      return { banks, next: limit === 2 ? 3 : null, total: limit === 100 ? 3_000_000_000 : 7 };
    },
  });
  const renewsAt = new Date('2026-12-01T00:00:00Z');
  return {
    bankData,
    quoteBankData: () => bankData,
    essays: createScriptedEssays(renewsAt),
    allowances: [
      { service: 'bank-data', used: 1, limit: null, remaining: null, renewsAt } as const,
      { service: 'essays', used: 2, limit: 10, remaining: 8, renewsAt } as const,
    ].map((status) => ({ service: status.service, status: async () => status })),
    budgets: { reserve: () => null, status: async () => null },
    knownBanks: {
      has: () => false,
      status: () => 'UNKNOWN',
      accountCheckMethod: () => null,
      bics: () => [],
      schemes: () => null,
      lists: () => [list, { ...list, country: 'US', validUntil: '2999-12-31' }],
    },
    ibanIds: createIbanIds(() => ['the secret of tests']),
    isOnlyLocal: true,
    slices: createTimeSlices(4),
    limits: {
      ibans: 20,
      bics: 10,
      bankQueries: 4,
      essayTexts: 2,
      listedOrders: 9,
      storedBytes: 32_000_000,
      essays: 1,
      entities: 20,
      suggestions: 1_000,
    },
  };
}

const list = {
  country: 'DE',
  kind: 'CURATED',
  source: 'Pens',
  date: '2020-01-01',
  validUntil: null,
  isComplete: true,
} as const;

async function validateIban(iban: string): Promise<IbanValidation> {
  const number = ibans.indexOf(iban);
  await turns((number * 5) % 4);
  if (number === 1)
    throw new GatewayError('UPSTREAM_TIMED_OUT', 'Too late.', { service: 'bank-data', retryable: true });
  if (number === 2) throw new GatewayError('UPSTREAM_FAILED', 'It failed.', { service: 'bank-data' });
  if (number === 3) throw new Error('a fault');
  return createValidation(iban, number);
}

async function validateBic(bic: string): Promise<BicValidation> {
  await turns(bic.length % 3);
  if (bic === 'BNPAFRPP') throw new GatewayError('UPSTREAM_UNAVAILABLE', 'It is down.', { service: 'bank-data' });
  if (bic === 'DEUTDEFF500') throw new GatewayError('UPSTREAM_FAILED', 'It failed.', { service: 'bank-data' });
  return { bic, valid: true, problems: [], bank: bic === 'MARKDEFF' ? null : createBank(bic) };
}

/** An order for each id in `texts`. */
function createScriptedEssays(createdAt: Date): Essays {
  const input = { description: 'Pens', mode: 'STANDARD', wordCount: 10, purpose: null, titles: [] } as const;
  const shared = { createdAt, input, bytes: 1_000 };
  const states: Record<string, EssayOrderState> = {
    known: { kind: 'finished', essayId: 'known' },
    '7': { kind: 'writing', textSoFar: 'Pens hold' },
    '8': { kind: 'cancelled', mayHaveBeenPaid: false },
  };
  const find = async (id: string): Promise<EssayOrder | null> => {
    await turns(1);
    if (id === 'failing') throw new Error('the store failed');
    const state = Object.hasOwn(states, id) ? states[id] : undefined;
    return state === undefined ? null : { ...shared, id, state, isCancellable: false };
  };
  return {
    generate: async () => ({ kind: 'invalid-input', message: 'Not here.', problems: [] }),
    async findEssay(id) {
      await turns(1);
      if (id === 'failing') throw new Error('the store failed');
      const dates = { createdAt, keptUntil: createdAt };
      const form = {
        mode: 'STANDARD',
        writer: 'SERVICE',
        input: { ...input, description: 'pens', wordCount: 100 },
      } as const;
      const essay: Essay = { kind: 'essay', id, text: 'Pens.', wordCount: 1, ...form, ...dates };
      return id === 'known' || id === '7' ? essay : null;
    },
    start: async () => ({ ...shared, id: 'known', state: { kind: 'queued', position: 2 }, isCancellable: true }),
    find,
    findByKey: find,
    watch: async (id) =>
      (async function* () {
        yield await find(id);
      })(),
    async cancel(id) {
      const order = await find(id);
      return order && { order, isCancelled: order.state.kind === 'cancelled', mayHaveBeenPaid: true };
    },
    lastEntry: async () => 5,
    async findListed(number) {
      await turns(1);
      const state = { kind: 'cancelled', mayHaveBeenPaid: false } as const;
      return number < 3 ? null : { ...shared, id: 'known', state, isCancellable: false };
    },
    delete: async (id) => ({ result: id === 'known' ? 'deleted' : id === '7' ? 'not-ended' : 'unknown', bytes: 0 }),
  };
}

function createValidation(iban: string, number: number): IbanValidation {
  const unknown = { country: null, bankCode: null, branch: null, nationalChecksum: null };
  const ibanData = {
    ...unknown,
    countryCode: iban.slice(0, 2),
    sepaCountry: number === 5,
    checksum: iban.slice(2, 4),
    bban: iban.slice(4),
    accountNumber: 'The "account"\u2028',
    countryIbanFormatAsSwift: null,
    countryIbanFormatAsRegex: null,
  };
  const faulty = { ...ibanData, countryCode: null as never };
  return {
    iban,
    valid: number !== 6,
    problems: number === 6 ? ['REJECTED_BY_SERVICE'] : number === 5 ? ['NO_SUCH_PROBLEM' as never] : [],
    ibanData: number === 4 ? faulty : ibanData,
    bankData:
      number === 0
        ? { ...unknownOrigin, bankCode: '1', name: 'Bank', zip: null, city: null, bic: 'COBADEFFXXX' }
        : null,
  };
}

const unknownOrigin = {
  countryCode: null,
  address: null,
  bicSource: null,
  status: null,
  successor: null,
  source: null,
  date: null,
};

function createBank(bic: string): BankData {
  const unknown = { ...unknownOrigin, bankCode: null, zip: null, city: null, address: null };
  return { ...unknown, bic, name: `Bank ${bic}`, countryCode: 'DE' };
}

/** A service whose functions return promises. */
interface TBankData {
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
  const { findAll } = createLookUpCache({
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
  return createBankData(findAll, {
    validateIban: settled(service.validateIban),
    validateBic: settled(service.validateBic),
    generateIban: ({ values }, call, settle) => generateIban(values, call, settle),
    listBanks: (listing, _, call, settle) => listBanks(listing, call, settle),
  });
}
