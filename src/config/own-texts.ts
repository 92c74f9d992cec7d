/**
 * Words of at least 8 characters that the gateway itself writes to its log, or reads in upstream responses: fields, services,
 * paths, codes and messages. Redacting such a secret would make them unreadable.
 */
const ownWords = `
bank-data ledgerquill
/graphql /bank_data/iban_validate /bank_data/iban_generate /bank_data/swift_check /bank_data/all /v2/generate/essay/
requestId operationType operationName documentId clientName clientVersion durationMs overheadMs cacheHits staleHits
upstreamCalls perSecond variables mutation subscription anonymous api-key:

allowance buffered collector configuration continues documents executed exhausted exported: failing, idempotency invalid:
rejected, requests response unexpected upstream

BAD_USER_INPUT BAD_REQUEST GRAPHQL_PARSE_FAILED GRAPHQL_VALIDATION_FAILED OPERATION_RESOLUTION_FAILURE TOO_MANY_ERRORS
PERSISTED_QUERY_NOT_FOUND PERSISTED_QUERY_MISMATCH UNAUTHENTICATED FORBIDDEN QUERY_NOT_IN_SAFELIST RATE_LIMITED
BUDGET_EXHAUSTED OVERLOADED INTERNAL_SERVER_ERROR UPSTREAM_REJECTED_CREDENTIALS UPSTREAM_ALLOWANCE_EXHAUSTED
UPSTREAM_UNAVAILABLE UPSTREAM_TIMED_OUT UPSTREAM_FAILED

account_number bank_code bank_data checksum country_code country_iban_example country_iban_format_as_regex
country_iban_format_as_swift current_page iban_data last_page national_checksum per_page revision_date sepa_country
swift_data us_routing
`.split(/\s+/);

/** Whether redacting this text would also change texts of the gateway itself. */
export function isOwnText(text: string): boolean {
  return ownWords.some((word) => word.includes(text));
}
