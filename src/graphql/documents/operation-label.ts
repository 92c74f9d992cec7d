import type { OperationDefinitionNode } from 'graphql';
import type { OperationType } from '../../telemetry/finished-request.ts';

/** What log, metrics and traces show of an operation. It refers to no document: a kept reply has it. */
export interface OperationLabel {
  readonly type: OperationType;
  /** Chosen by the client, at most 100 characters. Empty if it has none. */
  readonly name: string;
  readonly trust: DocumentTrust;
}

/** Changes when trusted documents are read again. */
export interface DocumentTrust {
  /** A hash of its text; null if the document is not trusted. */
  trustedId: string | null;
}

export function labelOperation({ operation, name }: OperationDefinitionNode, trust: DocumentTrust): OperationLabel {
  // A copy of the name: a slice would keep the whole text of the document.
  const text = Buffer.from(name?.value.slice(0, maxNameLength) ?? '').toString();
  return { type: operation, name: text, trust };
}

const maxNameLength = 100;
