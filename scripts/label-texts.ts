/* Labels of metrics whose values are not listed in their definitions: printed in a table of docs/metrics.md. */

export const labelTexts: Readonly<Record<string, string>> = {
  code: 'a [failure code](operations.md#failure-codes)',
  http_response_status_code: 'at most 200 combinations with the other labels of its metric',
  error_type:
    'a status from 400 on, `unreachable`, `reset`, `invalid`, `truncated`, `too-large`, `mismatched` or `timed-out`; empty without an error',
  error_code: 'such as `ENOTFOUND`, `ECONNREFUSED`, `UND_ERR_CONNECT_TIMEOUT` or `CERT_HAS_EXPIRED`; at most 100',
  graphql_operation_name:
    'names in [trusted documents](configuration.md#trusted-documents), at most 500; `other` for all others',
  endpoint: 'paths of the upstream, without parameters',
  caller:
    '`api-key:` and a configured name, `router`, `anonymous`; `jwt:` and a hash of the subject for at most 100 series; `other` for the sum of all others',
  currency: 'that of the price; absent without prices',
  hash: '8 hexadecimal digits; the secret is in it only as a key that scrypt derives',
  country: 'ISO 3166-1 alpha-2 code',
  file: 'the variable that names the file',
  version: 'the release',
  revision: 'the commit',
};
