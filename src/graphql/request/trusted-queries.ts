import { GraphQLError } from 'graphql';

import { hashText, type TrustedDocuments } from '../../documents/trusted-documents.ts';
import type { Events } from '../../telemetry/events.ts';
import { rejectDocument } from '../documents/document.ts';
import type { PrepareDocument } from '../documents/documents.ts';
import type { PersistedQueries } from './persisted-queries.ts';

/** Refuses documents that are not trusted, before they are parsed, or logs them; marks the trusted ones. */
export function withTrustedDocuments(
  prepare: PrepareDocument,
  trusted: TrustedDocuments,
  events: Pick<Events, 'untrustedDocument'>,
): PrepareDocument {
  return (text) => {
    const isTrusted = trusted.has(text);
    if (!isTrusted && trusted.mode === 'require') {
      return rejectDocument(null, [new GraphQLError(notTrusted)], 'QUERY_NOT_IN_SAFELIST');
    }
    const prepared = prepare(text);
    if (isTrusted) prepared.trust.trustedId ??= hashText(text);
    else prepared.trust.trustedId = null;
    if (!isTrusted && prepared.document !== null && trusted.mode === 'log') events.untrustedDocument();
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

const notTrusted = 'This document is not trusted: the gateway executes only those of its operator.';
