import { setTimeout } from 'node:timers/promises';
import { request } from 'undici';
import { calcCheckDigits } from '../src/iban/mod97.ts';
import { delayCausesOption } from './event-loop.ts';
import { type GatewayProcess, startGateway } from './gateway-process.ts';
import { createClient, runLoad } from './load.ts';
import {
  createChecks,
  describeMachine,
  formatTable,
  formatTenths,
  percentile,
  print,
  readNumberOption,
} from './report.ts';
import { startUpstream } from './upstream.ts';

/*
 * Sends files to POST /check again and again, and measures the times of a known query beside them, and how long the event loop of
 * the gateway worked in one go. Each file has other IBANs.
 *   npx tsx bench/check-files.ts [--seconds 20] [--rate 100] [--mb 9] [--built]
 */

const seconds = readNumberOption('seconds', 20);
const perSecond = readNumberOption('rate', 100);
const bytes = readNumberOption('mb', 9) * 1_000_000;
/** IBANs of a file: the default of CHECK_MAX_IBANS. */
const distinct = 10_000;
const checks = createChecks();
/** Of the file that is created. */
let firstAccount = 0;
let accounts = 0;

print(describeMachine());
const upstream = await startUpstream({ latencyMs: 5 });
const gateway = await startGateway(
  {
    ...upstream.env,
  },
  { isBuilt: process.argv.includes('--built'), nodeOptions: [delayCausesOption] },
);
const client = createClient(gateway.url, 4);

await measure('warm-up', null);
// Created once: creating them would delay the queries.
const foreignElements = createMessage(() => '<x:a xmlns:x="urn:y"/>'.repeat(50_000));
const wideTable = createWideTable();
const measured = [
  await measure('no file', null),
  // Its first file loads the code of the checks.
  await measure('pain.001, right, first of the process', createRightMessage),
  await measure('pain.001, right', createRightMessage),
  await measure('pain.001, four findings a transaction', () =>
    createMessage(() => createTransaction(nextIban().replace(/.$/, 'X'), 'Müller &amp; Söhne')),
  ),
  await measure('CSV, right', () => createTable(nextIban)),
  await measure('CSV, wrong IBANs', () => createTable(wrongIban)),
  await measure('ten clients: foreign elements', () => foreignElements, 10),
  await measure('ten clients: rows of 1,000 wrong IBANs', () => wideTable, 10),
];
print(
  formatTable(
    [
      'beside',
      'files',
      's per file',
      'query p50 ms',
      'p99 ms',
      'max ms',
      'RSS MB',
      'delays > 20 ms',
      'longest own work ms',
    ],
    measured,
  ),
);
await client.close();
for (const { msg } of gateway.log.filter(({ level }) => level >= 50)) checks.fail(`logged: ${msg}`);
await gateway.kill();
await upstream.close();
checks.print();

async function measure(name: string, createFile: (() => string) | null, clients = 1): Promise<string[]> {
  const beganAt = Date.now();
  const endsAt = performance.now() + seconds * 1_000;
  const times: number[] = [];
  const sending = { files: 0, isOver: createFile === null, seconds: 0 };
  const sent = Array.from({ length: createFile === null ? 0 : clients }, () => sendFiles(createFile ?? (() => '')));
  const allSent = Promise.all(sent).then(() => {
    sending.isOver = true;
  });
  await runLoad({
    clients: 4,
    perSecond,
    isOver: () => performance.now() > endsAt && sending.isOver,
    async send() {
      const start = performance.now();
      const { data } = await client.send(
        '{ ibanValidation(iban: "DE89370400440532013000") { valid bankData { name bic } } }',
      );
      if (!data) checks.fail('the known query has no answer');
      times.push(performance.now() - start);
    },
  });
  await allSent;
  const delays = gateway.log.filter((line): line is Delay => 'ranMs' in line && line.time >= beganAt);
  const [p50, p99, max] = [0.5, 0.99, 1].map((share) => formatTenths(percentile(times, share)));
  return [
    name,
    String(sending.files),
    sending.files === 0 ? '' : formatTenths(sending.seconds / sending.files),
    ...([p50, p99, max] as string[]),
    formatTenths(gateway.memory()?.rss ?? Number.NaN),
    String(delays.length),
    formatTenths(Math.max(0, ...delays.map(({ ranMs }) => ranMs))),
  ];

  async function sendFiles(create: () => string): Promise<void> {
    while (performance.now() < endsAt) {
      firstAccount += distinct;
      accounts = 0;
      const file = create();
      const start = performance.now();
      const response = await request(new URL('/check', gateway.url), {
        method: 'POST',
        headers: { 'content-type': 'application/octet-stream' },
        body: file,
      });
      if (response.statusCode === 503 && clients > 1) {
        await response.body.dump();
        await setTimeout(500);
        continue;
      }
      let last = '';
      for await (const chunk of response.body) last = String(chunk);
      if (response.statusCode !== 200 || /^\{"error":/m.test(last)) {
        checks.fail(`a file was answered with ${response.statusCode}: ${last.slice(-200)}`);
      }
      sending.files += 1;
      sending.seconds += (performance.now() - start) / 1_000;
    }
  }
}

type Delay = GatewayProcess['log'][number] & { ranMs: number };

function nextIban(): string {
  accounts += 1;
  const bban = `10000000${String(firstAccount + (accounts % distinct)).padStart(10, '0')}`;
  return `DE${calcCheckDigits('DE', bban)}${bban}`;
}

function wrongIban(): string {
  return nextIban().replace(/\d$/, (digit) => `${9 - Number(digit)}`);
}

/** Its answer may be 20 times as long as CHECK_MAX_BYTES. */
function createWideTable(): string {
  const row = () => `${Array.from({ length: 1_000 }, wrongIban).join(';')}\n`;
  return `${Array(1_000).fill('IBAN').join(';')}\n${repeat(row, bytes / 4).text}`;
}

/** As long as `--mb` says. */
function repeat(createPart: () => string, maxLength = bytes): { text: string; count: number } {
  const parts: string[] = [];
  for (let length = 0; length < maxLength; length += parts.at(-1)?.length ?? 0) parts.push(createPart());
  return { text: parts.join(''), count: parts.length };
}

function createTable(createIban: () => string): string {
  return `Name;IBAN;BIC;Text\n${repeat(() => `Ink and Paper Ltd;${createIban()};COBADEFFXXX;Nibs and ink\n`).text}`;
}

function createRightMessage(): string {
  return createMessage(() => createTransaction(nextIban(), 'Ink and Paper Ltd'));
}

function createMessage(create: () => string): string {
  const { text, count } = repeat(create);
  return `<?xml version="1.0" encoding="UTF-8"?>
<Document xmlns="urn:iso:std:iso:20022:tech:xsd:pain.001.001.09"><CstmrCdtTrfInitn>
<GrpHdr><MsgId>MESSAGE-${firstAccount}</MsgId><CreDtTm>2026-11-26T09:30:00</CreDtTm><NbOfTxs>${count}</NbOfTxs>
<CtrlSum>${count}</CtrlSum><InitgPty><Nm>Ink and Paper Ltd</Nm></InitgPty></GrpHdr>
<PmtInf><PmtInfId>PAYMENT</PmtInfId><PmtMtd>TRF</PmtMtd><PmtTpInf><SvcLvl><Cd>SEPA</Cd></SvcLvl></PmtTpInf>
<ReqdExctnDt><Dt>2126-12-02</Dt></ReqdExctnDt><Dbtr><Nm>Ink and Paper Ltd</Nm></Dbtr>
<DbtrAcct><Id><IBAN>DE89370400440532013000</IBAN></Id></DbtrAcct>
<DbtrAgt><FinInstnId><BICFI>COBADEFFXXX</BICFI></FinInstnId></DbtrAgt>
${text}</PmtInf></CstmrCdtTrfInitn></Document>`;
}

function createTransaction(iban: string, name: string): string {
  return `<CdtTrfTxInf><PmtId><EndToEndId>INVOICE-${accounts}</EndToEndId></PmtId><Amt><InstdAmt Ccy="EUR">1.00</InstdAmt></Amt>
<CdtrAgt><FinInstnId><Othr><Id>NOTPROVIDED</Id></Othr></FinInstnId></CdtrAgt>
<Cdtr><Nm>${name}</Nm><PstlAdr><TwnNm>Paris</TwnNm><Ctry>FR</Ctry><AdrLine>3, rue de la Plume</AdrLine></PstlAdr></Cdtr>
<CdtrAcct><Id><IBAN>${iban}</IBAN></Id></CdtrAcct><RmtInf><Ustrd>Invoice ${accounts}, nibs and ink</Ustrd></RmtInf></CdtTrfTxInf>
`;
}
