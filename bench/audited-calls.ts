import { execFile } from 'node:child_process';
import { hash } from 'node:crypto';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { GatewayProcess } from './gateway-process.ts';
import { type Checks, print } from './report.ts';
import { describeIban, scriptedIban } from './scripted-ibans.ts';

/** The API keys of callers by their names. */
export type AuditCallers = Readonly<Record<string, string>>;

const query = 'query LookUp($ibans: [String!]!) { ibanValidations(ibans: $ibans) { valid } }';
/** Within this time, a gateway on a busy machine has read an answer. */
const settledMs = 1_000;
const ibansPerQuery = 10;
const clients = 4;

/** Clients that look up IBANs, each for one caller, and a service that counts the calls for each. */
export async function startAuditedLookUps(callers: AuditCallers) {
  const names = Object.keys(callers);
  const callerOf = new Map<string, string>();
  const counts = new Map(names.map((name) => [name, 0]));
  /** Calls whose gateway may not have read the answer yet. */
  let unsettled = 0;
  let mostMissing = 0;
  const server = createServer(async (request, response) => {
    const iban = new URL(request.url ?? '/', 'http://upstream').searchParams.get('iban_number') ?? '';
    const caller = callerOf.get(iban) ?? 'unknown';
    counts.set(caller, (counts.get(caller) ?? 0) + 1);
    unsettled += 1;
    await sleep(Math.random() * 20);
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(describeIban(iban)));
    setTimeout(() => (unsettled -= 1), settledMs).unref();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

  /** Looks up some IBANs that were not looked up before. Repeats what was not answered, which may be paid for again. */
  async function send(lookUps: number, anyGateway: () => GatewayProcess): Promise<void> {
    const lists: { caller: string; ibans: string[] }[] = [];
    for (let number = 0; number < lookUps; number += 1) {
      if (number % ibansPerQuery === 0) lists.push({ caller: names[lists.length % names.length] ?? '', ibans: [] });
      const { caller = '', ibans = [] } = lists.at(-1) ?? {};
      const iban = scriptedIban('answer', callerOf.size);
      callerOf.set(iban, caller);
      ibans.push(iban);
    }
    await Promise.all(
      Array.from({ length: clients }, async () => {
        for (let list = lists.pop(); list !== undefined; list = lists.pop())
          while (!(await isAnswered(anyGateway(), callers[list.caller] ?? '', list.ibans))) await sleep(100);
      }),
    );
  }

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** The value of GATEWAY_API_KEYS. */
    apiKeys: names.map((name) => `${name}:${hash('sha256', callers[name] ?? '')}:bank-data+essays`).join(','),
    send,
    /** Call it before a gateway is killed: a look-up has its line in the trail when it has ended, so those in flight have none. */
    noteKill() {
      mostMissing += unsettled;
    },
    /** How many look-ups may have no line. */
    mostMissing: () => mostMissing,
    /** The calls that the service has received, by caller. */
    received: () => new Map(counts),
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function isAnswered({ url }: GatewayProcess, apiKey: string, ibans: readonly string[]): Promise<boolean> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': apiKey },
      body: JSON.stringify({ query, variables: { ibans } }),
      signal: AbortSignal.timeout(15_000),
    });
    const { errors } = (await response.json()) as { errors?: unknown };
    return errors === undefined;
  } catch {
    return false;
  }
}

/**
 * Compares `ledgerquill audit sum` over the data folders of all gateways with the calls that the services have received: those that are
 * charged were received, and those that were received are charged or unknown, but for look-ups of gateways that were killed meanwhile.
 * @returns a row for each caller and day
 */
export async function checkAudit(
  dataDirs: readonly string[],
  received: ReadonlyMap<string, number>,
  mostMissing: number,
  checks: Checks,
): Promise<(string | number)[][]> {
  const merged = mkdtempSync(join(tmpdir(), 'ledgerquill-audit-'));
  try {
    // The names of the files of different gateways differ.
    for (const dataDir of dataDirs) cpSync(join(dataDir, 'audit'), join(merged, 'audit'), { recursive: true });
    const [, ...lines] = (await runAudit(merged, ['sum', '--by', 'caller,day'])).trim().split('\n');
    const sums = lines.map((line) => readSum(line));
    checkAmounts(await runAudit(merged, ['sum', '--by', 'service']), checks);
    if (new Set(sums.map(({ day }) => day)).size > 1) {
      print('The audit trail was compared over two days, because midnight (UTC) has passed.');
    }
    let missing = 0;
    for (const [name, count] of received) {
      const own = sums.filter(({ caller }) => caller === `api-key:${name}`);
      const total = (key: 'calls' | 'charged') => own.reduce((sum, row) => sum + row[key], 0);
      missing += Math.max(0, count - total('calls'));
      if (total('charged') > count) {
        checks.fail(`${name}: received ${count}, but ${total('charged')} are charged in the audit trail`);
      }
    }
    if (missing > mostMissing) {
      checks.fail(`${missing} calls are not in the audit trail, but only ${mostMissing} were in flight at a kill`);
    }
    print(`Look-ups of killed gateways without a line: ${missing} of at most ${mostMissing}`);
    const stranger = sums.find(({ caller }) => !received.has(caller.replace('api-key:', '')));
    if (stranger !== undefined) checks.fail(`the audit trail has the caller ${stranger.caller}`);
    return sums.map(({ caller, day, calls, charged, unknown, open, notSent }) => {
      return [caller, day, received.get(caller.replace('api-key:', '')) ?? 0, calls, charged, unknown, open, notSent];
    });
  } finally {
    rmSync(merged, { recursive: true });
  }
}

function readSum(line: string) {
  const [caller = '', day = '', ...numbers] = line.split(',');
  const [calls = 0, charged = 0, unknown = 0, open = 0, notSent = 0] = numbers.map(Number);
  return { caller, day, calls, charged, unknown, open, notSent };
}

/** Each row must cost its calls times their price: look-ups cost 0.0125 EUR, orders 1.5 EUR. */
function checkAmounts(text: string, checks: Checks): void {
  for (const row of text.trim().split('\n').slice(1)) {
    const [service = '', calls = '', , unknown = '', , , amount, unknownAmount, currency] = row.split(',');
    const tenThousandths = service === 'essays' ? 15_000 : 125;
    const costOf = (count: string) => Number(count) * tenThousandths;
    const isRight = (shown = '', count = '') => Math.round(Number(shown) * 10_000) === costOf(count);
    if (currency !== 'EUR' || !isRight(amount, calls) || !isRight(unknownAmount, unknown))
      checks.fail(`the audit trail has other amounts than calls times price: ${row}`);
  }
}

/** What the callers of the benchmark are charged. */
export const auditedPrices = { BANK_DATA_PRICE: '0.0125 EUR', ESSAY_PRICE: '1.5 EUR' };

/** @throws if it fails: lines were changed, removed or moved */
async function runAudit(dataDir: string, args: readonly string[]): Promise<string> {
  const program = fileURLToPath(new URL('../dist/cli/ledgerquill.js', import.meta.url));
  const env = { PATH: process.env.PATH ?? '', DATA_DIR: dataDir };
  const { stdout } = await promisify(execFile)(process.execPath, [program, 'audit', ...args], { env });
  return stdout;
}
