/** All work unchanged with the self-hosted services. */
export const exampleTabs = [
  {
    query: `# One IBAN, in any format.
query OneIban {
  ibanValidation(iban: "DE89 3704 0044 0532 0130 00") {
    valid
    problems
    ibanData { country sepaCountry bankCode accountNumber }
    bankData { name bic }
  }
}
`,
  },
  {
    query: `# Several IBANs: results in the order of the input, one look-up per distinct IBAN.
query ManyIbans($ibans: [String!]!) {
  ibanValidations(ibans: $ibans) {
    iban
    valid
    problems
    countryIbanExample
  }
}
`,
    variables: JSON.stringify(
      { ibans: ['FR14 2004 1010 0505 0001 3M02 606', 'GB29NWBK60161331926819', 'DE89370400440532013001'] },
      null,
      2,
    ),
  },
  {
    query: `# An essay, or one of the errors that can occur instead.
mutation WriteEssay($input: GenerateEssayInput!) {
  generateEssay(input: $input) {
    ... on Essay { text wordCount }
    ... on InvalidEssayInput { field message }
    ... on EssayAllowanceExhausted { message renewsAt }
    ... on EssayServiceFailed { message retryable }
  }
}
`,
    variables: JSON.stringify(
      {
        input: {
          description:
            'The history of the fountain pen: early reservoirs, the first reliable feed, and why people still write with one.',
          mode: 'STANDARD',
          wordCount: 250,
        },
      },
      null,
      2,
    ),
  },
];
