/** Where a caller presents its key or token. In an object, so that it differs from the other results. */
interface Credential {
  value: string;
}

/**
 * Reads `authorization: Bearer VALUE` or `x-api-key: VALUE`. Several are invalid, even if equal: a proxy in front of the
 * gateway may have checked another one.
 * @param rawHeaders names and values in turn
 * @returns null if there is none
 */
export function readCredential(rawHeaders: readonly string[]): Credential | 'invalid' | null {
  let found: string | null = null;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    const isAuthorization = isHeader(name, authorization);
    if (!isAuthorization && !isHeader(name, apiKey)) continue;
    if (found !== null) return 'invalid';
    const text = rawHeaders[index + 1] ?? '';
    if (isAuthorization && !text.startsWith('Bearer ') && !bearer.test(text)) return 'invalid';
    found = isAuthorization ? text.slice(bearerLength) : text;
    if (found === '' || found.length > maxLength) return 'invalid';
  }
  return found === null ? null : { value: found };
}

/** The length excludes almost all others, without a copy in lower case. */
function isHeader(name: string, lowerCase: string): boolean {
  return name === lowerCase || (name.length === lowerCase.length && name.toLowerCase() === lowerCase);
}

const authorization = 'authorization';
const apiKey = 'x-api-key';
const bearer = /^bearer /i;
const bearerLength = 7;
const maxLength = 8_192;
