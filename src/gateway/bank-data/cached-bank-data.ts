import { findBicProblems } from '../../iban/bic.ts';
import { buildIban, type FindGermanRule } from '../../iban/build-iban.ts';
import { findIbanProblems } from '../../iban/iban.ts';
import type { Config, UpstreamAccess } from '../config/read-config.ts';
import type { RequestContext } from '../request-context.ts';
import type { OpenedStore } from '../stores/open-store.ts';
import type { Events } from '../telemetry/events.ts';
import type { CreateUpstream } from '../upstream/upstream-client.ts';
import type { BankDataPort, BankPage, BicValidation, Found, IbanGeneration, IbanValidation } from './bank-data.ts';
import { createEpochs } from './epochs.ts';
import { createLookUpCache, type LookUpCache } from './look-up-cache.ts';
import { createRestBankData, invalidFields, maxCallsPerPage, type RestBankData } from './rest/rest-bank-data.ts';
import { computeIbanData } from './rest/wire.ts';
import { createSharedCache } from './shared-cache.ts';

interface CachedBankDataOptions extends Pick<OpenedStore, 'store' | 'sharedValues'> {
  createUpstream: CreateUpstream;
  access: UpstreamAccess;
  config: Pick<Config, 'bankData' | 'upstreamConcurrency' | 'store'>;
  events: Events;
  /** Absent where no IBANs are generated. */
  findGermanRule?: FindGermanRule;
}

/** The bank-data service behind its cache, with its client and its allowance. */
export function createCachedBankData({
  createUpstream,
  access,
  config,
  store,
  sharedValues,
  events,
  findGermanRule,
}: CachedBankDataOptions) {
  const { url, client, allowance } = createUpstream('bank-data', access, 'apikey', config.bankData);
  const { freshMs, maxAgeMs, lookUpBytes: maxBytes, isSelfHosted } = config.bankData;
  // A negative answer is fresh for a tenth longer at most.
  const keepMs = Math.max(maxAgeMs, 1.1 * freshMs, 1_000);
  const epochs = createEpochs({ store: sharedValues && store, keepMs, url: isSelfHosted ? url : null });
  const sharing = {
    timeoutMs: config.store.lookUpTimeoutMs,
    onLate: () => events.storeFailed('timeout'),
    loadPurges: epochs.load,
  };
  const cache = createLookUpCache({
    client,
    freshMs,
    maxAgeMs,
    maxBytes,
    maxConcurrency: config.upstreamConcurrency,
    sharedCache: sharedValues && createSharedCache(sharedValues, sharing),
    epochs,
    events,
  });
  const rest = createRestBankData({ client, events, epochs });
  const bankData = createBankData(cache.findAll, rest, findGermanRule);
  return { ...bankData, quoted, client, allowance, lookUps: cache.status, epochs };

  /** The same look-ups, of which none makes a call. @param count receives the calls that they would make */
  function quoted(count: (calls: number) => void): BankDataPort {
    const findAll: LookUpCache['findAll'] = async (lookUps) => {
      const { found, calls } = await cache.quote(lookUps);
      count(calls * (lookUps.maxCalls ?? 1));
      return found;
    };
    return createBankData(findAll, rest, findGermanRule);
  }
}

/** Answers locally what cannot be valid, so that it never costs a paid call, and looks up the rest. */
export function createBankData(
  findAll: LookUpCache['findAll'],
  service: RestBankData,
  findGermanRule?: FindGermanRule,
): BankDataPort {
  const findOne: <Answer extends object>(lookUps: Parameters<typeof findAll<Answer>>[0]) => Promise<Answer> = (
    lookUps,
  ) => findAll(lookUps).then(firstOf);
  const toIbanLookUps = (ibans: readonly string[], context: RequestContext) => ({
    // All other keys contain a colon.
    prefix: '',
    inputs: ibans,
    context,
    answerLocally: answerIban,
    lookUp: service.validateIban,
    isNegative: isInvalid,
  });
  return {
    validateIbans: (ibans, context) => findAll(toIbanLookUps(ibans, context)),
    validateBics: (bics, context) =>
      findAll({
        prefix: 'bic:',
        inputs: bics,
        context,
        answerLocally: answerBic,
        lookUp: service.validateBic,
        isNegative: isInvalid,
      }),
    async generateIban(values, context) {
      const built = buildIban(values, findGermanRule);
      if (built.kind !== 'iban') return { ...built, message: built.problems.map(({ message }) => message).join(' ') };
      const { iban, rule } = built;
      if (built.fields === null) {
        const validation = await findOne(toIbanLookUps([iban], context));
        return validation.valid ? { kind: 'iban', validation: { ...validation, ibanRule: rule } } : invalidFields;
      }
      const fields = { ...values, ...built.fields };
      const generation = await findOne<IbanGeneration>({
        prefix: 'generation:',
        inputs: [JSON.stringify([fields.country, fields.bankCode, fields.branch, fields.accountNumber])],
        context,
        lookUp: (_, call, settle) => service.generateIban({ values: fields, iban, rule }, call, settle),
        isNegative: ({ kind }) => kind === 'invalid',
      });
      if (generation.kind === 'invalid') return generation;
      const ibanRule = rule === 'UNKNOWN' ? (generation.validation.ibanRule ?? rule) : rule;
      return { kind: 'iban', validation: { ...generation.validation, ibanRule } };
    },
    listBanks: (listing, context) =>
      findOne<BankPage>({
        prefix: 'banks:',
        inputs: [JSON.stringify([listing.country, listing.search, listing.offset, listing.limit])],
        context,
        lookUp: (_, call, settle) => service.listBanks(listing, context.furtherPages, call, settle),
        isNegative: ({ banks, isCutShort = false }) => banks.length === 0 || isCutShort,
        maxCalls: maxCallsPerPage,
      }),
  };
}

/** @throws the first one, if it is an Error */
function firstOf<Answer>([found]: readonly Found<Answer>[]): Answer {
  if (found === undefined || found instanceof Error) throw found;
  return found;
}

function isInvalid({ valid }: { valid: boolean }): boolean {
  return !valid;
}

/** The answer for an IBAN that cannot be valid. */
function answerIban(iban: string): IbanValidation | null {
  const problems = findIbanProblems(iban);
  if (problems.length === 0) return null;
  return { iban, valid: false, problems, ibanData: computeIbanData(iban), bankData: null };
}

/** The answer for a BIC that cannot be valid. */
function answerBic(bic: string): BicValidation | null {
  const problems = findBicProblems(bic);
  return problems.length === 0 ? null : { bic, valid: false, problems, bank: null };
}
