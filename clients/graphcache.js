/*
 * The cache of @urql/exchange-graphcache for Ledgerquill:
 *
 *   new Client({ url, exchanges: [cacheExchange(cacheOptions), fetchExchange], preferGetMethod: false })
 */
// From here, written by `npm run schema`.
// biome-ignore format: JSON
const types = {
  "keys": {
    "Allowance": null,
    "BankData": null,
    "BankDataConnection": null,
    "BankDataEdge": null,
    "BankList": null,
    "BankScheme": null,
    "BicValidation": null,
    "CallerBudget": null,
    "Essay": "id",
    "EssayAllowanceExhausted": null,
    "EssayCancellation": null,
    "EssayCancelled": null,
    "EssayDeletion": null,
    "EssayFailed": null,
    "EssayFinished": null,
    "EssayInput": null,
    "EssayOrder": "id",
    "EssayOrderConnection": null,
    "EssayOrderEdge": null,
    "EssayOrderNotCancellable": null,
    "EssayOrderNotEnded": null,
    "EssayOrderNotFound": null,
    "EssayQueued": null,
    "EssayServiceFailed": null,
    "EssayWriting": null,
    "IbanCountry": null,
    "IbanData": null,
    "IbanField": null,
    "IbanFormat": null,
    "IbanValidation": null,
    "InvalidEssayField": null,
    "InvalidEssayInput": null,
    "InvalidIbanField": null,
    "InvalidIbanFields": null,
    "Limits": null,
    "PageInfo": null
  },
  "possibleTypes": {
    "CancelEssayOrderResult": [
      "EssayCancellation",
      "EssayOrderNotCancellable",
      "EssayOrderNotFound"
    ],
    "DeleteEssayOrderResult": [
      "EssayDeletion",
      "EssayOrderNotEnded",
      "EssayOrderNotFound"
    ],
    "EssayFailure": [
      "EssayAllowanceExhausted",
      "EssayServiceFailed",
      "InvalidEssayInput"
    ],
    "EssayOrderState": [
      "EssayCancelled",
      "EssayFailed",
      "EssayFinished",
      "EssayQueued",
      "EssayWriting"
    ],
    "GenerateEssayResult": [
      "Essay",
      "EssayAllowanceExhausted",
      "EssayServiceFailed",
      "InvalidEssayInput"
    ],
    "GenerateIbanResult": [
      "IbanValidation",
      "InvalidIbanFields"
    ],
    "Node": [
      "BankData",
      "Essay",
      "EssayOrder",
      "IbanValidation"
    ],
    "StartEssayResult": [
      "EssayAllowanceExhausted",
      "EssayOrder",
      "EssayServiceFailed",
      "InvalidEssayInput"
    ],
    "UserError": [
      "EssayAllowanceExhausted",
      "EssayOrderNotCancellable",
      "EssayOrderNotEnded",
      "EssayOrderNotFound",
      "EssayServiceFailed",
      "InvalidEssayInput",
      "InvalidIbanFields"
    ]
  }
};
// To here.

/**
 * Only what a mutation or a subscription changes is stored by its id. Other objects belong to the field that returns them: so
 * queries of one IBAN share what they select, with `iban` or without. What an error is about is not stored.
 */
export const cacheOptions = {
  possibleTypes: types.possibleTypes,
  keys: Object.fromEntries(
    Object.entries(types.keys).map(([type, key]) => [type, (data) => (key === null ? null : (data[key] ?? null))]),
  ),
  // An order that was deleted is no longer in the lists, which are requested again.
  updates: {
    Mutation: {
      deleteEssayOrder({ deleteEssayOrder: result }, { id }, cache) {
        if (result?.__typename === 'EssayDeletion') cache.invalidate({ __typename: 'EssayOrder', id });
      },
    },
  },
  // In development, Graphcache without a schema warns of each field that only another member of a union has.
  logger(severity, message) {
    const isOfOtherMember = message.startsWith('Invalid undefined') && message.includes('Fragment');
    // biome-ignore lint/suspicious/noConsole: Graphcache writes there, too, but no debug messages.
    if (severity !== 'debug' && !isOfOtherMember) console[severity](message);
  },
};
