/*
 * The cache of Apollo Client 4 for Ledgerquill:
 *
 *   new ApolloClient({ link: failureLink.concat(new HttpLink({ uri })), cache: new InMemoryCache(cacheOptions) })
 */
import { ApolloLink, Observable } from '@apollo/client';
import { relayStylePagination } from '@apollo/client/utilities';
import { visit } from 'graphql';

// From here, written by `npm run schema`.
// biome-ignore format: JSON
const types = {
  "keys": {
    "Allowance": null,
    "BankData": "id",
    "BankDataConnection": null,
    "BankDataEdge": null,
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
    "EssayOrderNotEnded": null,
    "EssayOrderNotFound": null,
    "EssayQueued": null,
    "EssayServiceFailed": null,
    "EssayWriting": null,
    "IbanCountry": "code",
    "IbanData": null,
    "IbanField": null,
    "IbanFormat": null,
    "IbanItemResult": null,
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
      "countries",
      "ibanItems",
      "ibanValidations"
    ]
  },
  "connections": {
    "banks": [
      "country",
      "search"
    ],
    "essayOrders": [
      "state"
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
    "CancelEssayResult": [
      "EssayCancellation",
      "EssayOrderNotFound"
    ],
    "DeleteEssayResult": [
      "EssayDeletion",
      "EssayOrderNotEnded",
      "EssayOrderNotFound"
    ],
    "Error": [
      "EssayAllowanceExhausted",
      "EssayOrderNotEnded",
      "EssayOrderNotFound",
      "EssayServiceFailed",
      "InvalidEssayInput",
      "InvalidIbanFields"
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
    // Without its key, an object is part of the one that contains it.
    const keyFields = key === null ? false : (object) => (object[key] === undefined ? false : [key]);
    policies[type] = { keyFields, merge: true, fields: {} };
  }
  policies.Query = { fields: {} };
  for (const [type, names] of Object.entries(types.lists))
    for (const name of names) policies[type].fields[name] = { merge: mergeList };
  for (const [name, filters] of Object.entries(types.connections)) policies.Query.fields[name] = createPages(filters);
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

/** Pages of one list are joined, by `edges` or by `nodes`; the latter need `pageInfo { endCursor }`. */
function createPages(filters) {
  const relay = relayStylePagination(filters);
  return {
    keyArgs: filters,
    read: (existing, options) => (existing ? relay.read(existing, options) : existing),
    merge(existing, incoming, options) {
      if (!incoming) return existing ?? incoming;
      const pages = relay.merge(existing ?? undefined, incoming, options);
      if (!incoming.nodes) return pages;
      const isNext = options.args?.after && options.args.after === existing?.pageInfo?.endCursor;
      return { ...pages, nodes: isNext ? [...(existing.nodes ?? []), ...incoming.nodes] : incoming.nodes };
    },
  };
}

/** What another query has loaded: keys are without separators and in upper case, as in responses. */
function findLoaded(known, type, key, { args, toReference }) {
  const value = args?.[key];
  if (known === null || typeof value !== 'string') return known;
  return toReference({ __typename: type, [key]: value.replace(/[\s-]/g, '').toUpperCase() });
}

function forget({ client: { cache }, query }, data, path) {
  let id = 'ROOT_QUERY';
  let name = path[0];
  let value = data;
  for (const [index, step] of path.entries()) {
    value = value?.[step];
    const own = value?.__typename === undefined ? undefined : cache.identify(value);
    if (own === undefined) continue;
    id = own;
    name = path[index + 1];
  }
  const fields = {};
  const forgetNull = (stored, { DELETE }) => (hasNull(stored) ? DELETE : stored);
  visit(query, {
    Field(node) {
      if ((node.alias ?? node.name).value === name) fields[node.name.value] = forgetNull;
    },
  });
  // Without a broadcast: the result is shown with its error, and is not requested again until it is asked for.
  cache.modify({ id, fields, broadcast: false });
}

function hasNull(stored) {
  return stored === null || (typeof stored === 'object' && Object.values(stored).some(hasNull));
}
