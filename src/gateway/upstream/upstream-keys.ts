import { messageOf, type ServiceName } from '../../base/errors.ts';
import { watchFiles } from '../../base/variables/configured-files.ts';
import { secret } from '../../base/variables/parsers.ts';
import { readSecretFile } from '../../base/variables/read-variables.ts';
import type { Events } from '../telemetry/events.ts';

interface UpstreamKeysOptions {
  upstreams: { bankData: UpstreamAccess; essays: UpstreamAccess };
  /** Called before a new key is used. */
  hideSecret: (key: string) => void;
  events: Pick<Events, 'upstreamKeyReloaded' | 'upstreamKeyInvalid'>;
}

interface UpstreamAccess {
  url: string;
  apiKey: string;
  apiKeyFile?: string | undefined;
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

  function readAgain(service: ServiceName, variable: string, { url, apiKey, apiKeyFile }: UpstreamAccess) {
    let isInvalid = false;
    const access = { url, apiKey };
    if (apiKeyFile === undefined) return { access, reload() {}, close() {} };
    const file = apiKeyFile;

    function reload(): void {
      try {
        const key = readKey(file, variable);
        if (key === access.apiKey && !isInvalid) return;
        hideSecret(key);
        access.apiKey = key;
        isInvalid = false;
        events.upstreamKeyReloaded(service);
      } catch (error) {
        isInvalid = true;
        events.upstreamKeyInvalid(service, messageOf(error));
      }
    }

    const close = watchFiles([file], reload);
    // It may have changed after the configuration was read.
    reload();
    return { access, reload, close };
  }
}

/** @throws Error that says what is wrong, without the key */
function readKey(file: string, variable: string): string {
  const { success, data, error } = secret().safeParse(readSecretFile(file, variable));
  if (success) return data;
  throw new Error(`the value of ${variable} in the file ${error.issues[0]?.message}`);
}
