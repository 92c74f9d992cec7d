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
    const paths = (errors ?? []).flatMap(({ path }) => (path ? [path] : []));
    if (data && paths.length > 0) forget(operation, data, paths);
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
  policies.Mutation = { fields: { deleteEssayOrder: { merge: mergeDeletion } } };
  for (const [type, names] of Object.entries(types.lists))
    for (const name of names) policies[type].fields[name] = { merge: mergeList };
  for (const [name, { type, key }] of Object.entries(types.lookUps)) {
    policies.Query.fields[name] = { read: (known, options) => known ?? findLoaded(known, type, key, options) };
  }
  return policies;
}

/** An order that was deleted is no longer in the lists. */
function mergeDeletion(_, result, { args, cache, readField }) {
  if (readField('__typename', result) === 'EssayDeletion')
    cache.evict({ id: cache.identify({ __typename: 'EssayOrder', id: args.id }) });
  return result;
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

function forget({ client: { cache }, query, variables }, data, paths) {
  const fields = {};
  const ids = new Set(['ROOT_QUERY']);
  const steps = readSteps(paths);
  visit(query, {
    Field(field) {
      const { name, alias = name } = field;
      const step = steps.get(alias.value);
      if (step === undefined) return;
      const own = cache.policies.getStoreFieldName({ typename: 'Query', fieldName: name.value, field, variables });
      const forgetOther = fields[name.value];
      fields[name.value] = (stored, details) => {
        forgetOther?.(stored, details);
        // An object without its key was merged into the one that an earlier result has stored in its place.
        if (step.isNested || details.storeFieldName === own) for (const id of readIds(stored, step.items)) ids.add(id);
        return hasNull(stored) ? details.DELETE : stored;
      };
    },
  });
  for (const value of objectsAt(data, paths)) {
    const { __typename: type } = value;
    // The key may have an alias, so each text may be it.
    for (const text of Object.values(value)) ids.add(cache.identify({ __typename: type, [types.keys[type]]: text }));
  }
  // Without a broadcast: the result is shown with its error, and is not requested again until it is asked for.
  for (const id of ids) if (id !== undefined) cache.modify({ id, fields, broadcast: false });
}

/** The names in the paths, with the places of their lists that failed. */
function readSteps(paths) {
  const steps = new Map();
  for (const path of paths) {
    for (const [place, name] of path.entries()) {
      const step = steps.get(name) ?? { isNested: false, items: new Set() };
      step.isNested ||= place > 0;
      step.items.add(path[place + 1]);
      steps.set(name, step);
    }
  }
  return steps;
}

function readIds(stored, items) {
  const objects = Array.isArray(stored) ? [...items].map((item) => stored[item]) : [stored];
  return objects.flatMap((object) => object?.__ref ?? []);
}

/** The objects on the paths, each once: all rows of a list may have failed. */
function objectsAt(data, paths) {
  const found = new Set();
  for (const path of paths) {
    let value = data;
    for (const step of path) {
      value = value?.[step];
      if (value?.__typename !== undefined) found.add(value);
    }
  }
  return found;
}

function hasNull(stored) {
  return stored === null || (typeof stored === 'object' && Object.values(stored).some(hasNull));
}
