import type { KnownBanks } from '../../banks/known-banks.ts';
import type { InTimeSlice } from '../../base/async/time-slices.ts';
import { createAnswers } from '../../check/answers/answers.ts';
import { checkTables } from '../../check/check-tables.ts';
import { checkDocument } from '../../check/endpoint/document.ts';
import { createReceivedBody, Patience } from '../../check/endpoint/received-body.ts';
import {
  type CheckRequest,
  csv,
  forbid,
  ndjson,
  type Refusal,
  readCheckRequest,
  refuse,
  tooLarge,
  workbookAdvice,
} from '../../check/endpoint/request.ts';
import { openPaymentStream, type PaymentFile, PaymentFileError } from '../../check/open-file.ts';
import { checkMessage } from '../../check/pain/check-message.ts';
import { readTables } from '../../check/read-rows.ts';
import { createFindingWriter, createRowWriter } from '../../check/write-results.ts';
import type { BankDataPort } from '../bank-data/bank-data.ts';
import { createBankDataAnswers } from '../bank-data/check-answers.ts';
import type { Caller } from '../callers/caller.ts';
import type { PaidBudgets } from '../callers/paid-budget.ts';
import { clientClosedRequest, createRecord, type ReplyRecord } from '../graphql/request/reply.ts';
import { createRequestContext } from '../request-context.ts';
import { createCheckPlaces } from './check-places.ts';
import { untilRead } from './event-stream.ts';
import type { Exchange } from './exchange.ts';
import { isFragmented } from './incoming-request.ts';

interface CheckLimits {
  /** Requests at a time. */
  maxRequests: number;
  maxBytes: number;
  /** Different IBANs that are looked up for one request. */
  maxIbans: number;
  /** How long a client may send nothing, or read nothing, in milliseconds. */
  clientTimeoutMs: number;
}

interface CheckEndpointOptions {
  limits: CheckLimits;
  bankData: Pick<BankDataPort, 'validateIbans'>;
  budgets: Pick<PaidBudgets, 'reserve'>;
  banks: Pick<KnownBanks, 'has' | 'accountCheckMethod' | 'bics'>;
  /** Look-ups of a request at a time. */
  maxConcurrency: number;
  /** Whether callers without credentials may use it. */
  isOpenToAnonymous: boolean;
  inTimeSlice: InTimeSlice;
}

export type CheckEndpoint = ReturnType<typeof createCheckEndpoint>;

/** Checks the file in the body of a request, and answers with its rows, or the findings of a payment message, as they are known. */
export function createCheckEndpoint(options: CheckEndpointOptions) {
  const { limits, bankData, budgets, banks, maxConcurrency, isOpenToAnonymous, inTimeSlice } = options;
  const places = createCheckPlaces({ places: limits.maxRequests, maxWaitMs: limits.clientTimeoutMs });
  const tableLimits = {
    rows: Math.floor(limits.maxBytes / bytesPerRow),
    cells: Math.floor(limits.maxBytes / bytesPerCell),
  };
  const maxAnswerBytes = limits.maxBytes * answerBytesPerByte;

  return {
    sendDocument: (exchange: Exchange) => exchange.sendJson(200, checkDocument),
    /** @param search of the URL */
    async answer(exchange: Exchange, search: string, caller: Caller): Promise<void> {
      const refusal = findRefusal(exchange, caller) ?? readCheckRequest(exchange.headers, search);
      if ('status' in refusal) {
        return exchange.sendError(refusal.status, refusal.code, refusal.message, refusal.headers ?? []);
      }
      // The limit for the time of a whole request would end a large file.
      exchange.request.isStreamed = true;
      const isKnown = caller.kind !== 'anonymous';
      const leave = await places.take(isKnown ? caller.id : addressOf(exchange), exchange.signal);
      if (leave === null) {
        const message =
          'As many files as CHECK_MAX_REQUESTS allows are checked, and others wait; retry in some seconds.';
        return exchange.sendError(503, 'OVERLOADED', message, ['retry-after', '5']);
      }
      try {
        await check(exchange, refusal, caller);
      } finally {
        leave();
      }
    },
  };

  function findRefusal({ method, headers }: Exchange, caller: Caller): Refusal | null {
    if (method !== 'POST') {
      return { ...refuse(405, 'The path /check accepts POST only.'), headers: ['allow', 'POST, OPTIONS'] };
    }
    if (!caller.scopes.has('bank-data')) {
      return forbid('This needs the scope bank-data, which the caller does not have.');
    }
    if (caller.kind === 'anonymous' && !isOpenToAnonymous) {
      return forbid('While only trusted documents are executed, this needs the credentials of a caller.');
    }
    return Number(headers['content-length'] ?? 0) > limits.maxBytes ? tooLarge(limits.maxBytes) : null;
  }

  async function check(
    exchange: Exchange,
    { format, columnNames, encoding, profile }: CheckRequest,
    caller: Caller,
  ): Promise<void> {
    const { signal } = exchange;
    // Without a trace: its spans would be as many as the IBANs.
    const context = createRequestContext(signal, caller.id, (service) => budgets.reserve(caller, service), null, {
      caller: caller.name,
      requestId: exchange.requestId,
      operation: 'POST /check',
    });
    const errorCodes = new Set<string>();
    const source = createBankDataAnswers({
      bankData,
      maxConcurrency,
      maxCalls: null,
      pausesMs,
      context,
      inTimeSlice,
      limit: {
        ibans: limits.maxIbans,
        reason: `one request may have ${limits.maxIbans} different IBANs (CHECK_MAX_IBANS)`,
      },
      onFailure: (code) => errorCodes.add(code),
    });
    const answers = createAnswers(source);
    const { request, response, headers } = exchange;
    if (headers.expect !== undefined && request.httpVersionMinor === 1) response.writeContinue();
    const body = createReceivedBody(request, { ...limits, isFragmented });
    const checking = { answers, banks, inTimeSlice };
    const fileName = 'the request body';
    const patience = new Patience(limits.clientTimeoutMs);
    let sentBytes = 0;
    try {
      const file = await openPaymentStream(fileName, body.chunks());
      if (file.kind === 'workbook') return await refuseWorkbook();
      await (file.kind === 'xml' ? sendFindings(file) : sendRows(file));
      await end('');
    } catch (error) {
      source.stop('the check has ended');
      exchange.reply = describeCheck();
      if (hasLeft()) exchange.finish(clientClosedRequest);
      else if (error instanceof PaymentFileError) await fail(error);
      else throw error;
    }

    async function sendRows(file: PaymentFile): Promise<void> {
      const tables = await readTables(file, { limits: tableLimits, encoding, inTimeSlice });
      for (const { table, checked } of await checkTables({ ...checking, fileName, tables, sheet: null, columnNames })) {
        if (checked === null) continue;
        const write = createRowWriter(format, { fileName, columns: checked.columns, style: table.style });
        for await (const rows of checked.rows) await send(await inTimeSlice(() => write(rows)));
      }
      await send('');
    }

    async function sendFindings(file: PaymentFile): Promise<void> {
      const writer = createFindingWriter(format, fileName);
      const maxWaiting = maxConcurrency * waitingPerLookUp;
      const findings = checkMessage(file.chunks, { ...checking, messageIds: new Set(), profile, maxWaiting });
      // Later findings may be a long time away.
      await send(writer.begin());
      for await (const finding of findings) await send(await inTimeSlice(() => writer.write(finding)));
    }

    function hasLeft(): boolean {
      return signal.aborted || response.destroyed || (request.destroyed && !request.complete);
    }

    /** Resolves when the client has read enough for the next part. */
    async function send(text: string): Promise<void> {
      const { responseHeaders } = exchange;
      if (hasLeft()) throw new PaymentFileError('the client has disconnected');
      if (!response.headersSent) {
        const type = format === 'json' ? ndjson : `${csv}; charset=utf-8`;
        responseHeaders.push('content-type', type, 'cache-control', 'no-store', 'vary', 'accept');
        // A proxy would collect rows until its buffer is full.
        responseHeaders.push('x-accel-buffering', 'no');
        response.writeHead(200, responseHeaders);
        response.on('timeout', () => response.destroy());
      }
      sentBytes += Buffer.byteLength(text);
      if (sentBytes > maxAnswerBytes) {
        throw new PaymentFileError(
          `the answer has more than ${maxAnswerBytes} bytes, the limit; send the file in parts`,
        );
      }
      if (text === '' || response.write(text)) return;
      response.setTimeout(limits.clientTimeoutMs);
      const read = patience.wait(untilRead(response), sentBytes, () => response.destroy());
      await body.readAheadUntil(read);
      response.setTimeout(0);
    }

    async function end(lastLine: string): Promise<void> {
      await body.discardRest();
      exchange.reply = describeCheck();
      exchange.finish(200);
      response.end(lastLine, () => request.complete || request.destroy());
    }

    async function refuseWorkbook(): Promise<void> {
      await body.discardRest();
      exchange.sendError(415, 'BAD_USER_INPUT', workbookAdvice, ['connection', 'close']);
    }

    async function fail({ message }: PaymentFileError): Promise<void> {
      const sentence = `${message.charAt(0).toUpperCase()}${message.slice(1)}.`;
      const { status, code } = body.isTooLarge() ? tooLarge(limits.maxBytes) : refuse(400, '');
      if (!response.headersSent) {
        exchange.sendError(status, code, sentence, ['connection', 'close']);
        return;
      }
      errorCodes.add(code);
      if (format === 'json') return end(`${JSON.stringify({ error: { code, message: sentence } })}\n`);
      exchange.reply = describeCheck();
      exchange.finish(200);
      response.destroy();
    }

    function describeCheck(): ReplyRecord {
      const { usage, activity } = context;
      return { ...createRecord(null), errorCodes: [...errorCodes], usage, activity };
    }
  }
}

/* Of CHECK_MAX_BYTES, on average: more rows and cells take longer than files of payees. */
const bytesPerRow = 20;
const bytesPerCell = 4;

/** An answer about a row or a transaction is longer than that, by more than this if most have findings. */
const answerBytesPerByte = 20;

/** Findings of a payment message: more would only occupy memory, which garbage collection copies. */
const waitingPerLookUp = 20;

function addressOf({ request }: Exchange): string {
  return request.socket.remoteAddress ?? '';
}

/** A client waits, so a failure is reported sooner than in the command. */
const pausesMs = [1_000];
