/*
 * The cache of Apollo Client 4 for Ledgerquill:
 *
 *   new ApolloClient({ link: failureLink.concat(new HttpLink({ uri })), cache: new InMemoryCache(cacheOptions) })
 */
import { ApolloLink, Observable } from '@apollo/client';
import { visit } from 'graphql';

// From here, written by `npm run schema`.
// biome-ignore format: JSON
const types = {
  "keys": {
    "Allowance": null,
    "BankData": "id",
    "BankDataConnection": null,
    "BankDataEdge": null,
    "BankList": null,
    "BankScheme": null,
    "BicValidation": "bic",
    "CallerBudget": null,
    "Essay": "id",
    "EssayAllowanceExhausted": null,
    "EssayCancellation": null,
    "EssayCancelled": null,
    "EssayDeletion": "deletedId",
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
    "IbanCountry": "code",
    "IbanData": null,
    "IbanField": null,
    "IbanFormat": null,
    "IbanValidation": "iban",
    "InvalidEssayField": null,
    "InvalidEssayInput": null,
    "InvalidIbanField": null,
    "InvalidIbanFields": null,
    "Limits": null,
    "PageInfo": null
  },
  "lists": {
    "BankData": [
      "schemes"
    ],
    "IbanCountry": [
      "ibanFields",
      "territories"
    ],
    "InvalidEssayInput": [
      "fields"
    ],
    "InvalidIbanFields": [
      "fields"
    ],
    "Query": [
      "allowances",
      "bankLists",
      "countries",
      "ibanValidations"
    ]
  },
  "lookUps": {
    "bicValidation": {
      "type": "BicValidation",
      "key": "bic"
    },
    "country": {
      "type": "IbanCountry",
      "key": "code"
    },
    "ibanValidation": {
      "type": "IbanValidation",
      "key": "iban"
    }
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
 * Selections of one object are merged, whether they have its key or not, so that no query is sent again because another one
 * has selected other fields.
 */
export const cacheOptions = { possibleTypes: types.possibleTypes, typePolicies: createTypePolicies() };

/**
 * Forgets what an error is about when its result was passed on: the cache would answer the next query with null, without an
 * error and without a request.
 */
export const failureLink = new ApolloLink((operation, forward) => {
  const forgetFailed = ({ data, errors }) => {
    for (const { path } of errors ?? []) if (data && path) forget(operation, data, path);
  };
  return new Observable((observer) =>
    forward(operation).subscribe({
      next(result) {
        observer.next(result);
        forgetFailed(result);
      },
      error: (error) => observer.error(error),
      complete: () => observer.complete(),
    }),
  );
});

function createTypePolicies() {
  const policies = {};
  for (const [type, key] of Object.entries(types.keys)) {
    // Without its key, an object is part of the one that contains it. The key is read by its name in the schema: an alias may have
    // the same name.
    const findKey = (_, { readField }) => (readField(key) === undefined ? false : [key]);
    policies[type] = { keyFields: key === null ? false : findKey, merge: true, fields: {} };
  }
  policies.Query = { fields: {} };
  for (const [type, names] of Object.entries(types.lists))
    for (const name of names) policies[type].fields[name] = { merge: mergeList };
  for (const [name, { type, key }] of Object.entries(types.lookUps)) {
    policies.Query.fields[name] = { read: (known, options) => known ?? findLoaded(known, type, key, options) };
  }
  return policies;
}

/** The items of a list have the order of its arguments, or that of the schema. */
function mergeList(existing, incoming, { mergeObjects }) {
  if (existing?.length !== incoming?.length || !incoming) return incoming;
  return incoming.map((item, index) => mergeObjects(existing[index], item));
}

/** What another query has loaded. Keys are without separators and in capital letters, as in responses; only a-z become capitals. */
function findLoaded(known, type, key, { args, toReference }) {
  const value = args?.[key];
  if (known === null || typeof value !== 'string') return known;
  return toReference({
    __typename: type,
    [key]: value.replace(/[\s-]/g, '').replace(/[a-z]/g, (letter) => letter.toUpperCase()),
  });
}

function forget({ client: { cache }, query, variables }, data, path) {
  const fields = {};
  const ids = new Set(['ROOT_QUERY']);
  visit(query, {
    Field(field) {
      const { name, alias = name } = field;
      const place = path.indexOf(alias.value);
      if (place === -1) return;
      const own = cache.policies.getStoreFieldName({ typename: 'Query', fieldName: name.value, field, variables });
      fields[name.value] = (stored, { DELETE, storeFieldName }) => {
        // An object without its key was merged into the one that an earlier result has stored in its place.
        const { __ref } = (Array.isArray(stored) ? stored[path[place + 1]] : stored) ?? {};
        if (__ref !== undefined && (place > 0 || storeFieldName === own)) ids.add(__ref);
        return hasNull(stored) ? DELETE : stored;
      };
    },
  });
  let value = data;
  for (const step of path) {
    value = value?.[step];
    const { __typename: type } = value ?? {};
    // The key may have an alias, so each text may be it.
    for (const text of Object.values(value ?? {}))
      ids.add(cache.identify({ __typename: type, [types.keys[type]]: text }));
  }
  // Without a broadcast: the result is shown with its error, and is not requested again until it is asked for.
  for (const id of ids) if (id !== undefined) cache.modify({ id, fields, broadcast: false });
}

function hasNull(stored) {
  return stored === null || (typeof stored === 'object' && Object.values(stored).some(hasNull));
}
