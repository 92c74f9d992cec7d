/** The part of the gateway's schema that the benchmark queries, for servers that build their schema from text. */
export const typeDefs = /* GraphQL */ `
  type Query {
    ibanValidation(iban: String!): IbanValidation
    ibanValidations(ibans: [String!]!): [IbanValidation]!
  }

  type IbanValidation @key(fields: "iban") {
    iban: ID!
    valid: Boolean!
    ibanData: IbanData
    bankData: BankData
  }

  type IbanData {
    country: String
    countryCode: String!
    bankCode: String
    bban: String!
  }

  type BankData {
    name: String
    bic: String
    city: String
  }
`;
