import { join } from 'node:path';
import { checkDataFolder } from '../base/data-folder.ts';
import { createLog } from '../base/log.ts';
import { createRedactions } from '../base/redact.ts';
import type { LogLevel } from '../base/variables/parsers.ts';
import { createAuditTrail } from '../gateway/audit/audit-trail.ts';
import { auditFolder } from '../gateway/audit/read-audit.ts';
import { type Config, listSecrets, type UpstreamAccess, writesDataDir } from '../gateway/config/read-config.ts';
import { openStore } from '../gateway/stores/open-store.ts';
import { joinEvents } from '../gateway/telemetry/events.ts';
import { createLogEvents } from '../gateway/telemetry/log-events.ts';
import { createUpstreamFactory } from '../gateway/upstream/upstream-client.ts';

interface PaidCallsOptions {
  /** The service that is called. */
  access: UpstreamAccess;
  logLevel: LogLevel;
}

/**
 * What a command needs to make paid calls as the gateway does: with its store, so that they count towards the same allowance, and in
 * its audit trail.
 * @throws ConfigError if store or data folder cannot be used
 */
export async function openPaidCalls(config: Config, { access, logLevel }: PaidCallsOptions) {
  const { bankData, essays, audit, dataDir } = config;
  const { prices } = config.access;
  const secrets = listSecrets(config, { bankData: bankData.upstream ?? access, essays: essays.upstream ?? access });
  const { redact, redactSecrets } = createRedactions(secrets);
  const log = createLogEvents(createLog({ level: logLevel, redact }));
  if (writesDataDir(config)) checkDataFolder(dataDir);
  const folder = join(dataDir, auditFolder);
  // Standard output has the results of the command.
  const trail = audit && createAuditTrail({ ...audit, prices, folder, output: 2, redact, events: log });
  const events = joinEvents(log, trail?.events ?? {});
  const opened = openStore(config.store, dataDir, events);
  const { store, replicas } = opened;
  const createUpstream = createUpstreamFactory({ config, store, replicas, redactSecrets, events });

  /** After the last call has ended. */
  async function close(): Promise<void> {
    await store.close();
    await trail?.close();
  }

  try {
    await opened.checkSecret();
  } catch (error) {
    await close();
    throw error;
  }
  return { ...opened, createUpstream, redact, events, close };
}
