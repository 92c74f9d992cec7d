import { type AddressInfo, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { bank } from './workloads.ts';

/*
 * The bank-data service of the comparison, as a child process. It reads requests from the socket itself: node:http would
 * take several times as much of the core that it shares with the load. Every message is answered with the number of calls
 * since the last one.
 */

const delayMs = Number(process.argv[2] ?? 0);
const apiKey = process.argv[3] ?? '';
const path = 'GET /bank_data/iban_validate?iban_number=';
const validation = JSON.stringify({
  valid: true,
  iban: '<iban>',
  iban_data: {
    country: 'Germany',
    country_code: 'DE',
    sepa_country: true,
    checksum: '<checksum>',
    BBAN: '<bban>',
    bank_code: '<bank code>',
    account_number: '<account number>',
    branch: '',
    national_checksum: '',
    country_iban_format_as_swift: 'DE2!n8!n10!n',
    country_iban_format_as_regex: '^DE(\\d{2})(\\d{8})(\\d{10})$',
  },
  bank_data: { bank_code: '<bank code>', zip: '50667', ...bank },
  country_iban_example: 'DE89370400440532013000',
}).split(/<(.*?)>/);
let calls = 0;

const server = createServer({ noDelay: true }, (socket) => {
  let rest = '';
  // An open connection does not keep the process alive.
  socket.unref();
  socket.setEncoding('latin1').on('data', async (text: string) => {
    const requests = (rest + text).split('\r\n\r\n');
    rest = requests.pop() ?? '';
    if (requests.length === 0) return;
    calls += requests.length;
    const answers = requests.map(answer).join('');
    if (delayMs > 0) await sleep(delayMs);
    socket.write(answers);
  });
  socket.on('error', () => socket.destroy());
});

function answer(request: string): string {
  const iban = request.slice(path.length, request.indexOf(' ', path.length));
  if (!request.startsWith(path)) return format('404 Not Found', '{}');
  if (!request.toLowerCase().includes(`\napikey: ${apiKey}`)) return format('401 Unauthorized', '{}');
  return format('200 OK', describe(iban));
}

function describe(iban: string): string {
  const values: Record<string, string> = {
    iban,
    checksum: iban.slice(2, 4),
    bban: iban.slice(4),
    'bank code': iban.slice(4, 12),
    'account number': iban.slice(12),
  };
  let text = '';
  for (const [index, part] of validation.entries()) text += index % 2 === 0 ? part : values[part];
  return text;
}

function format(status: string, body: string): string {
  const length = Buffer.byteLength(body);
  return `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n${body}`;
}

process.on('message', () => {
  process.send?.(calls);
  calls = 0;
});
// The benchmark has exited.
process.on('disconnect', () => server.close());
server.listen(0, '127.0.0.1', () => {
  process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
