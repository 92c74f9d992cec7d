import { Pool } from 'undici';

const pool = new Pool(process.env.UPSTREAM, { connections: 64 });
const headers = { apikey: process.env.API_KEY };

/** One call to the bank-data service, in the shape of the GraphQL schema; the shortest way that Node.js has for it. */
export async function validateIban(iban) {
  const path = `/bank_data/iban_validate?iban_number=${encodeURIComponent(iban)}`;
  const { statusCode, body } = await pool.request({ path, method: 'GET', headers });
  if (statusCode !== 200) throw new Error(`the bank-data service answered ${statusCode}`);
  return readValidation(await body.json());
}

export function readValidation({ valid, iban, iban_data: data, bank_data: bank }) {
  return {
    valid,
    iban,
    ibanData: {
      country: data.country,
      countryCode: data.country_code,
      bankCode: data.bank_code,
      bban: data.BBAN,
    },
    bankData: { name: bank.name, bic: bank.bic, city: bank.city },
  };
}
