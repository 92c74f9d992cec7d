import { graphql } from './gql/index.ts';

/** Shared by the field and the list, so that a normalized cache can answer the field from the list. */
export const IbanFacts = graphql(`
  fragment IbanFacts on IbanValidation {
    iban
    valid
    problems
    suggestions
    nationalCheck
    bankCodeStatus
    country { code name ibanLength }
    bankData { name city bic }
  }
`);

export const CheckIban = graphql(`
  query CheckIban($iban: String!) {
    ibanValidation(iban: $iban) { ...IbanFacts }
  }
`);

export const CheckIbans = graphql(`
  query CheckIbans($ibans: [String!]!) {
    ibanValidations(ibans: $ibans) { ...IbanFacts }
  }
`);

/** Needs no call of a paid service. */
export const IbanFormats = graphql(`
  query IbanFormats {
    countries { code name ibanLength }
  }
`);

export const StartEssay = graphql(`
  mutation StartEssay($input: StartEssayInput!) {
    startEssay(input: $input) {
      __typename
      ... on EssayOrder { id }
      ... on UserError { message }
      ... on InvalidEssayInput { fields { name message } }
    }
  }
`);

/** Finds an order whose answer was lost. Orders nothing. */
export const FindOrder = graphql(`
  query FindOrder($idempotencyKey: ID!) {
    essayOrder(idempotencyKey: $idempotencyKey) { id }
  }
`);

/** Every event is the whole order, so the last one is all that is needed. */
export const OrderProgress = graphql(`
  fragment OrderProgress on EssayOrder {
    id
    createdAt
    isCancellable
    input { description mode purpose wordCount }
    state {
      __typename
      ... on EssayQueued { position }
      ... on EssayWriting { textSoFar wordCount }
      ... on EssayFinished { essay { id title text wordCount writer } }
      ... on EssayFailed {
        failure {
          __typename
          ... on UserError { message }
          ... on EssayServiceFailed { rawText }
        }
      }
      ... on EssayCancelled { mayHaveBeenPaid }
    }
  }
`);

export const WatchOrder = graphql(`
  subscription WatchOrder($id: ID!) {
    essayOrder(id: $id) { ...OrderProgress }
  }
`);

export const DeleteOrder = graphql(`
  mutation DeleteOrder($id: ID!) {
    deleteEssayOrder(id: $id) { __typename }
  }
`);

export const CancelOrder = graphql(`
  mutation CancelOrder($id: ID!) {
    cancelEssayOrder(id: $id) {
      __typename
      ... on UserError { message }
    }
  }
`);

export const PastOrders = graphql(`
  query PastOrders($after: String) {
    essayOrders(first: 10, after: $after) {
      nodes {
        id
        createdAt
        input { description }
        state {
          __typename
          ... on EssayFinished { essay { id title wordCount } }
        }
      }
      pageInfo { endCursor hasNextPage }
    }
  }
`);
