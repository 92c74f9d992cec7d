import { GraphQLError } from 'graphql';
import { hashText } from '../documents/document-index.ts';
import type { TrustedDocuments } from '../documents/trusted-documents.ts';
import type { Events } from '../telemetry/events.ts';
import type { PersistedQueries } from './persisted-queries.ts';
import { type PrepareDocument, rejectDocument } from './prepared-document.ts';

/** Refuses or logs documents that are not trusted. */
export function withTrustedDocuments(
  prepare: PrepareDocument,
  trusted: TrustedDocuments,
  events: Pick<Events, 'untrustedDocument'>,
): PrepareDocument {
  return (text) => {
    const prepared = prepare(text);
    const { document } = prepared;
    if (document === null) return prepared;
    if (trusted.has(text, () => document)) {
      prepared.trustedId ??= hashText(text).slice(0, idLength);
      return prepared;
    }
    prepared.trustedId = null;
    if (trusted.mode === 'require') {
      return rejectDocument(document, [new GraphQLError(notTrusted)], 'QUERY_NOT_IN_SAFELIST');
    }
    if (trusted.mode === 'log') events.untrustedDocument();
    return prepared;
  };
}

/** Trusted documents by their ids, and queries that clients have registered where that is permitted. */
export function withTrustedQueries(registered: PersistedQueries, trusted: TrustedDocuments): PersistedQueries {
  return {
    get: (hash) => trusted.textOf(hash) ?? registered.get(hash),
    set(hash, query) {
      if (trusted.mode !== 'require') registered.set(hash, query);
    },
  };
}

/** In the log. */
const idLength = 16;

const notTrusted = 'This document is not trusted: the gateway executes only those of its operator.';
