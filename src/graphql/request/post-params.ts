import { parseJson } from '../../parse-json.ts';

/** The body of an ordinary request. */
export interface PostParams {
  query?: string | null;
  operationName?: string | null;
  variables?: Readonly<Record<string, unknown>> | null;
  extensions?: { persistedQuery?: { version?: unknown; sha256Hash?: unknown } | null } | null;
}

/** Null if the body is not that of an ordinary request. */
export function readPostParams(body: string): PostParams | null {
  const params = parseJson(body);
  if (!isRecord(params)) return null;
  for (const name in params) if (!paramNames.has(name)) return null;
  const { query, operationName, variables, extensions } = params;
  const isOrdinary =
    (query == null || typeof query === 'string') &&
    (operationName == null || typeof operationName === 'string') &&
    (variables == null || isRecord(variables)) &&
    (extensions == null ||
      (isRecord(extensions) && (extensions.persistedQuery == null || isRecord(extensions.persistedQuery))));
  return isOrdinary ? params : null;
}

const paramNames = new Set(['query', 'operationName', 'variables', 'extensions']);

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
