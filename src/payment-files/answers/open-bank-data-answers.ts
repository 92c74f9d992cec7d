import { createCachedBankData } from '../../bank-data/cached-bank-data.ts';
import { type Config, listSecrets, type UpstreamAccess } from '../../config/read-config.ts';
import { openStore } from '../../stores/open-store.ts';
import { createLog } from '../../telemetry/log.ts';
import { createLogEvents } from '../../telemetry/log-events.ts';
import { createRedact } from '../../telemetry/redact.ts';
import { createUpstreamFactory } from '../../upstream/upstream-client.ts';
import type { AnswerSource } from './answer.ts';
import { createBankDataAnswers } from './bank-data-answers.ts';

interface OpenOptions {
  id: string;
  access: UpstreamAccess;
  maxCalls: number | null;
}

/**
 * The bank-data part of the gateway in this process, with the same store, so that calls count towards the same allowance.
 * @throws ConfigError if the store cannot be used
 */
export async function openBankDataAnswers(
  config: Config,
  { id, access, maxCalls }: OpenOptions,
): Promise<AnswerSource> {
  const secrets = listSecrets(config, { bankData: access, essays: config.essays.upstream ?? access });
  const level = config.logLevel === 'info' ? 'warn' : config.logLevel;
  const events = createLogEvents(createLog({ level, redact: createRedact(secrets) }));
  const { store, isShared, checkSecret } = openStore(config.store, config.dataDir, events);
  const { replicas } = config.store;
  const createUpstream = createUpstreamFactory({ config, store, replicas, secrets, events });
  // Each IBAN is asked about once, so nothing is gained from a large cache.
  const ownConfig = { ...config, bankData: { ...config.bankData, lookUpBytes: cacheBytes } };
  const bankData = createCachedBankData({ createUpstream, access, config: ownConfig, store, isShared, events });
  const close = async () => {
    bankData.dataVersion.close();
    await bankData.client.close();
    await bankData.allowance.flush();
    await store.close();
  };
  try {
    await checkSecret();
  } catch (error) {
    await close();
    throw error;
  }
  return createBankDataAnswers({ id, bankData, maxConcurrency: config.upstreamConcurrency, maxCalls, close });
}

const cacheBytes = 1_000_000;
