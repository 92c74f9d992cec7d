import { graphql } from './gql/index.ts';

/** Shared by the field and the list, so that a normalized cache can answer the field from the list. */
export const IbanFacts = graphql(`
  fragment IbanFacts on IbanValidation {
    iban
    valid
    problems
    suggestions
    nationalCheck
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

export const OrderOutcome = graphql(`
  fragment OrderOutcome on GenerateEssayResult {
    __typename
    ... on Essay { id mode text wordCount }
    ... on Error { message }
    ... on InvalidEssayInput { field }
    ... on EssayServiceFailed { code retryable rawText }
  }
`);

export const OrderEssay = graphql(`
  mutation OrderEssay($input: GenerateEssayInput!) {
    generateEssay(input: $input) { ...OrderOutcome }
  }
`);
