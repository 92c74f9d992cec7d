/** A reason of ISO's external code list in words; other codes as they are. */
export function describeReason(code: string): string {
  const words = reasons.get(code);
  const printed = /^[A-Z0-9]{1,10}$/.test(code) ? code : 'a reason of the bank';
  return words === undefined ? printed : `${words} (${code})`;
}

const reasons: ReadonlyMap<string, string> = new Map(
  `
  AB05 time-out at the bank of the creditor
  AB06 time-out of an instant payment
  AB08 the bank of the creditor is offline
  AC01 wrong account number
  AC02 wrong account number of the debtor
  AC03 wrong account number of the creditor
  AC04 the account is closed
  AC06 the account is blocked
  AC13 the debtor is a consumer, for whom the scheme is not allowed
  AG01 the account does not allow this kind of payment
  AG02 wrong kind of payment
  AG03 the payment is not supported
  AM01 the amount is zero
  AM02 the amount is not allowed
  AM03 the currency is not allowed
  AM04 insufficient funds
  AM05 duplicate
  AM09 wrong amount
  AM10 wrong control sum
  AM12 the amount cannot be read
  BE01 the party is not the account holder
  BE04 the address of the creditor is missing or wrong
  BE05 the initiating party is not known
  BE07 the address of the debtor is missing or wrong
  CNOR the bank of the creditor is not known
  CURR wrong currency
  CUST requested by the customer
  DNOR the bank of the debtor is not known
  DT01 wrong date
  DT02 wrong creation date
  DU01 MsgId is not unique
  DU02 PmtInfId is not unique
  DU03 the transaction is not unique
  DU04 EndToEndId is not unique
  DUPL duplicate
  ED05 settlement failed
  FF01 wrong format of the file
  FF03 wrong payment type
  FF05 wrong local instrument
  FOCR after a request for a recall
  MD01 no valid mandate
  MD02 the mandate is not complete
  MD06 refund, as requested by the debtor
  MD07 the debtor is deceased
  MS02 no reason, by the customer
  MS03 no reason, by the bank
  NARR in a text of the bank
  NOAS no answer of the customer
  RC01 wrong BIC
  RR01 the account or identification of the debtor is missing
  RR02 the name or address of the debtor is missing
  RR03 the name or address of the creditor is missing
  RR04 regulatory reason
  SL01 a service of the bank of the debtor
  TM01 after the cut-off time
  `
    .trim()
    .split('\n')
    .map((line) => line.trim())
    .map((line) => [line.slice(0, 4), line.slice(5)]),
);
