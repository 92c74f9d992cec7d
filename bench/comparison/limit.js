import { createServer } from 'node:http';
import { validateIban } from './validate-iban.js';

/*
 * What Node.js can do at most: node:http and one undici call per distinct IBAN, with the bytes of a GraphQL response but
 * without GraphQL. With CONSTANT, every response is that text, without a call.
 */

const { CONSTANT: constant, PORT: port } = process.env;

createServer((request, response) => {
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    if (constant !== undefined) return send(response, constant);
    const { variables } = JSON.parse(Buffer.concat(chunks).toString());
    answer(variables).then(
      (data) => send(response, JSON.stringify({ data })),
      (error) => response.writeHead(502).end(String(error)),
    );
  });
}).listen(Number(port), '127.0.0.1');

async function answer({ iban, ibans, r: representations } = {}) {
  if (iban !== undefined) return { ibanValidation: await validateIban(iban) };
  if (ibans !== undefined) return { ibanValidations: await validateAll(ibans) };
  if (representations === undefined) return { __typename: 'Query' };
  const validations = await validateAll(representations.map((each) => each.iban));
  return { _entities: validations.map(({ valid, iban, bankData: { name } }) => ({ valid, iban, bankData: { name } })) };
}

function validateAll(ibans) {
  const validations = new Map();
  for (const iban of ibans) if (!validations.has(iban)) validations.set(iban, validateIban(iban));
  return Promise.all(ibans.map((iban) => validations.get(iban)));
}

function send(response, text) {
  const headers = { 'content-type': 'application/json; charset=utf-8', 'content-length': Buffer.byteLength(text) };
  response.writeHead(200, headers).end(text);
}
