import { randomUUID } from 'node:crypto';

/** A span as plain data, which threads can send to each other. */
export interface SpanData {
  name: string;
  readonly kind: 'server' | 'internal' | 'client';
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
  readonly parent: SpanParent | null;
  /** The header `tracestate` of the client, or an empty string. */
  readonly traceState: string;
  readonly attributes: Record<string, string | number | boolean | string[]>;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  endedAt: number;
  isFailed: boolean;
}

interface SpanParent {
  spanId: string;
  isSampled: boolean;
  /** Whether the client sent it. */
  isRemote: boolean;
}

/** The client's span that a trace continues. */
export interface RemoteSpan {
  traceId: string;
  parent: SpanParent;
  traceState: string;
}

/** Receives each span when it has ended. */
export type RecordSpan = (span: SpanData) => void;

/** A span while its request runs. */
export class RecordedSpan {
  readonly data: SpanData;
  readonly #record: RecordSpan;
  readonly #startTime = performance.now();

  private constructor(record: RecordSpan, origin: Omit<RemoteSpan, 'parent'>, parent: SpanParent | null, own: OwnData) {
    const startedAt = Date.now();
    const { traceId, traceState } = origin;
    const { name, kind, attributes } = own;
    this.#record = record;
    this.data = {
      name,
      kind,
      traceId,
      spanId: createSpanId(),
      parent,
      traceState,
      attributes,
      startedAt,
      endedAt: startedAt,
      isFailed: false,
    };
  }

  /** The first span of the gateway in a trace. */
  static start(record: RecordSpan, remote: RemoteSpan | null, own: OwnData): RecordedSpan {
    const origin = remote ?? { traceId: createTraceId(), traceState: '' };
    return new RecordedSpan(record, origin, remote?.parent ?? null, own);
  }

  startChild(own: OwnData): RecordedSpan {
    const parent = { spanId: this.data.spanId, isSampled: true, isRemote: false };
    return new RecordedSpan(this.#record, this.data, parent, own);
  }

  fail(type: string): void {
    this.data.attributes['error.type'] = type;
    this.data.isFailed = true;
  }

  end(): void {
    this.data.endedAt = this.data.startedAt + performance.now() - this.#startTime;
    this.#record(this.data);
  }
}

type OwnData = Pick<SpanData, 'name' | 'kind' | 'attributes'>;

/** 32 random hexadecimal digits, but for 6 bits. `randomUUID` keeps random bytes in stock: asking for a few takes 2 µs. */
function createTraceId(): string {
  return randomUUID().replaceAll('-', '');
}

/** 16 random hexadecimal digits: those of a UUID before its version and after its variant. */
function createSpanId(): string {
  const id = createTraceId();
  return id.slice(0, 12) + id.slice(-4);
}
