import { isOld } from '../../banks/bank-lists.ts';
import type { BankListStatus } from '../../banks/listed-bank.ts';
import { checkDocument } from '../../check/endpoint/document.ts';
import { type BodyProblem, Patience, receiveBody } from '../../check/endpoint/received-body.ts';
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
import { type CheckEnd, startCheck } from '../../check/endpoint/run-worker.ts';
import type { BankDataPort } from '../bank-data/bank-data.ts';
import { createBankDataAnswers } from '../bank-data/check-answers.ts';
import type { Caller } from '../callers/caller.ts';
import type { PaidBudgets } from '../callers/paid-budget.ts';
import { clientClosedRequest, createRecord } from '../graphql/request/reply.ts';
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
  /** Folder with imported bank lists. */
  dataDir: string;
  /** The bank lists that a file is compared with. */
  bankLists: () => readonly BankListStatus[];
  /** Look-ups of a request at a time. */
  maxConcurrency: number;
  /** Whether callers without credentials may use it. */
  isOpenToAnonymous: boolean;
}

export type CheckEndpoint = ReturnType<typeof createCheckEndpoint>;

/** Checks the file in the body of a request, and answers with its rows, or the findings of a payment message, as they are known. */
export function createCheckEndpoint(options: CheckEndpointOptions) {
  const { limits, bankData, budgets, dataDir, bankLists, maxConcurrency, isOpenToAnonymous } = options;
  const places = createCheckPlaces({ places: limits.maxRequests, maxWaitMs: limits.clientTimeoutMs });
  const job = {
    dataDir,
    maxIbans: limits.maxIbans,
    maxAnswerBytes: limits.maxBytes * answerBytesPerByte,
  };
  const maxWorkMs = minWorkMs + limits.maxBytes / bytesPerMs;

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

  async function check(exchange: Exchange, checkRequest: CheckRequest, caller: Caller): Promise<void> {
    const { signal, request, response, headers } = exchange;
    // Without a trace: its spans would be as many as the IBANs.
    const context = createRequestContext(signal, caller.id, (service) => budgets.reserve(caller, service), null, {
      caller: caller.name,
      requestId: exchange.requestId,
      operation: 'POST /check',
    });
    const errorCodes = new Set<string>();
    const onFailure = (code: string) => errorCodes.add(code);
    const source = createBankDataAnswers({ bankData, maxConcurrency, maxCalls: null, pausesMs, context, onFailure });
    if (headers.expect !== undefined && request.httpVersionMinor === 1) response.writeContinue();
    const patience = new Patience(limits.clientTimeoutMs);
    let sentBytes = 0;
    let problem: BodyProblem | null = null;
    const run = startCheck({ job: { ...job, ...checkRequest }, source, write, maxWorkMs });
    signal.addEventListener('abort', run.leave);
    const received = receiveBody(request, {
      ...limits,
      isFragmented,
      onChunk: run.add,
      onEnd(found) {
        problem = found;
        if (found === 'cut-off') run.leave();
        else run.endBody(found && describeProblem(found, limits.maxBytes));
      },
    });
    try {
      const end = await run.ended;
      if (end.kind !== 'left') await received;
      answer(end);
    } finally {
      source.stop('the check has ended');
      await run.stop();
    }

    /** @returns null, or what resolves when the client has read it */
    function write(bytes: Uint8Array): Promise<void> | null {
      begin();
      sentBytes += bytes.length;
      if (response.destroyed || response.write(bytes)) return null;
      response.setTimeout(limits.clientTimeoutMs);
      const read = patience.wait(untilRead(response), sentBytes, () => response.destroy());
      return read.finally(() => response.setTimeout(0));
    }

    function begin(): void {
      if (response.headersSent) return;
      const type = checkRequest.format === 'json' ? ndjson : `${csv}; charset=utf-8`;
      exchange.responseHeaders.push('content-type', type, 'cache-control', 'no-store', 'vary', 'accept');
      const old = bankLists().filter(isOld);
      if (old.length > 0) {
        exchange.responseHeaders.push(
          'outdated-bank-lists',
          old.map(({ country, date }) => `${country}=${date}`).join(),
        );
      }
      // A proxy would collect rows until its buffer is full.
      exchange.responseHeaders.push('x-accel-buffering', 'no');
      response.writeHead(200, exchange.responseHeaders);
      response.on('timeout', () => response.destroy());
    }

    function answer(end: CheckEnd): void {
      const hasLeft = end.kind === 'left' || signal.aborted || response.destroyed;
      if (!hasLeft && end.kind === 'workbook') {
        exchange.sendError(415, 'BAD_USER_INPUT', workbookAdvice, ['connection', 'close']);
        return;
      }
      const failure = end.kind === 'failed' ? describeFailure(end.message) : null;
      if (failure !== null) errorCodes.add(failure.code);
      const { usage, activity } = context;
      exchange.reply = { ...createRecord(null), errorCodes: [...errorCodes], usage, activity };
      if (hasLeft) exchange.finish(clientClosedRequest);
      else if (failure !== null && !response.headersSent) {
        exchange.sendError(failure.status, failure.code, failure.message, ['connection', 'close']);
      } else endResponse(failure);
    }

    function endResponse(failure: Refusal | null): void {
      begin();
      exchange.finish(200);
      if (failure !== null && checkRequest.format === 'csv') response.destroy();
      else response.end(failure && `${JSON.stringify({ error: { code: failure.code, message: failure.message } })}\n`);
    }

    function describeFailure(text: string): Refusal {
      const message = `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
      return { ...(problem === 'too-large' ? tooLarge(limits.maxBytes) : refuse(400, '')), message };
    }
  }
}

function describeProblem(problem: BodyProblem, maxBytes: number): string {
  return problem === 'too-large'
    ? `the request body must have at most ${maxBytes} bytes (CHECK_MAX_BYTES)`
    : 'the request body has too many small chunks';
}

/** An answer about a row or a transaction is longer than that, by more than this if most have findings. */
const answerBytesPerByte = 20;

/** A file of wrong IBANs, the most work for its bytes, needs a quarter of the time, and all need some to begin. */
const bytesPerMs = 50;
const minWorkMs = 10_000;

function addressOf({ request }: Exchange): string {
  return request.socket.remoteAddress ?? '';
}

/** A client waits, so a failure is reported sooner than in the command. */
const pausesMs = [1_000];
