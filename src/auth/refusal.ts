/** A request that is not executed, and its response. */
export interface Refusal {
  kind: 'refused';
  status: 401 | 429;
  code: 'UNAUTHENTICATED' | 'RATE_LIMITED';
  /** The same for all wrong credentials, so that it helps no attacker. */
  message: string;
  headers: Readonly<Record<string, string>>;
}

export const missingCredentials = unauthenticated(
  'The request needs an API key or a token, as authorization: Bearer or as x-api-key.',
  'Bearer',
);

export const invalidCredentials = unauthenticated('The credentials are not valid.', 'Bearer error="invalid_token"');

export function createRateRefusal(seconds: number): Refusal {
  const message = `This caller has sent its requests of this minute; retry in ${seconds} s.`;
  return { kind: 'refused', status: 429, code: 'RATE_LIMITED', message, headers: { 'retry-after': String(seconds) } };
}

/** https://www.rfc-editor.org/rfc/rfc6750#section-3 */
function unauthenticated(message: string, challenge: string): Refusal {
  return { kind: 'refused', status: 401, code: 'UNAUTHENTICATED', message, headers: { 'www-authenticate': challenge } };
}
