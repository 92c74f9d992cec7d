import type { ServiceName } from '../../base/errors.ts';
import { followSecretFile } from '../../base/variables/follow-secret-file.ts';
import { secret } from '../../base/variables/parsers.ts';
import type { Events } from '../telemetry/events.ts';

/** A service, and the file from which its API key was read. */
interface Access {
  url: string;
  apiKey: string;
  apiKeyFile?: string | undefined;
}

interface UpstreamKeysOptions {
  upstreams: Record<'bankData' | 'essays', Access>;
  /** Called before a new key is used. */
  hideSecret: (key: string) => void;
  events: Pick<Events, 'upstreamKeyReloaded' | 'upstreamKeyInvalid'>;
}

/**
 * The upstreams with the API keys in use. Those in files are read again when their files change, so that a key is replaced without a
 * restart. A file that cannot be read, is empty or has no valid key leaves the last key in use.
 */
export function createUpstreamKeys({ upstreams, hideSecret, events }: UpstreamKeysOptions) {
  const bankData = readAgain('bank-data', 'BANK_DATA_API_KEY', upstreams.bankData);
  const essays = readAgain('essays', 'ESSAY_API_KEY', upstreams.essays);
  return {
    bankData: bankData.access,
    essays: essays.access,
    reload() {
      bankData.reload();
      essays.reload();
    },
    /** Stops reading the files again. */
    close() {
      bankData.close();
      essays.close();
    },
  };

  function readAgain(service: ServiceName, variable: string, { url, apiKey, apiKeyFile }: Access) {
    const access = { url, apiKey };
    const followed = followSecretFile({
      file: apiKeyFile ?? null,
      variable,
      type: secret(),
      value: apiKey,
      onRead(key) {
        hideSecret(key);
        access.apiKey = key;
        events.upstreamKeyReloaded(service);
      },
      onInvalid: (reason) => events.upstreamKeyInvalid(service, reason),
    });
    return { access, ...followed };
  }
}
