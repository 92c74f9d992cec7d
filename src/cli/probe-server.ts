import { Agent } from 'undici';
import { errorCodeOf } from '../errors.ts';

export interface ProbeResult {
  isOk: boolean;
  description: string;
}

/**
 * Connects to the server of a URL, with TLS for https://, and requests HEAD / without a key. No endpoint of a paid
 * service is called, and without a key no call can be charged; so the key itself is not checked.
 */
export async function probeServer(url: string): Promise<ProbeResult> {
  const { origin } = new URL(url);
  const agent = new Agent({ connect: { timeout: timeoutMs }, headersTimeout: timeoutMs });
  try {
    const { statusCode, body } = await agent.request({ origin, path: '/', method: 'HEAD' });
    await body.dump();
    const isOk = statusCode < 502 || statusCode > 504;
    const problem = isOk ? '' : ': the service behind it is not available';
    return { isOk, description: `${origin} responded ${statusCode} to HEAD / without a key${problem}` };
  } catch (error) {
    return { isOk: false, description: `${origin}: ${describeFailure(errorCodeOf(error) ?? 'unknown reason')}` };
  } finally {
    await agent.destroy();
  }
}

const timeoutMs = 3_000;

function describeFailure(code: string): string {
  const found = failures.find(([codes]) => codes.test(code));
  return `${found?.[1] ?? 'the server does not respond to HTTP; check the port, and http:// or https://'} (${code})`;
}

const failures: readonly [RegExp, string][] = [
  [/^(ENOTFOUND|EAI_)/, 'the host name cannot be resolved; check it and the name server'],
  [/^ECONNREFUSED$/, 'nothing listens there; check host and port'],
  [
    /^(UND_ERR_CONNECT_TIMEOUT|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH)$/,
    'the server cannot be reached; check the firewalls',
  ],
  [/^UND_ERR_HEADERS_TIMEOUT$/, `the server accepts connections, but does not respond within ${timeoutMs / 1_000} s`],
  [
    /CERT|SELF_SIGNED|UNABLE_TO|_SSL_|_TLS_|^EPROTO$/,
    'TLS fails; check https://, the host name and the certificate, or set NODE_EXTRA_CA_CERTS for a private authority',
  ],
];
