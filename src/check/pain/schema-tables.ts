// cspell:disable

/*
 * The messages of ISO 20022 as tables, in the order of their message definition reports. A line has the name of a type, `=` for all
 * of its elements in this order or `|` for exactly one of them, and the elements as name:type. After a name, `?` is 0..1, `*` 0..n,
 * `+` 1..n, `{0,2}` 0..2; without one, the element is mandatory. A table has what a year changed: a line replaces that of the
 * years before it. After `~`, only these elements are changed: `!` makes one mandatory, `?` allows one of it, `*` any number, and
 * `:type` is its other type; `PmtMtd>ReqdAdvcTp?:Advice` is an element after another one.
 */

/** pain.001.001.03 and pain.008.001.02. */
const year2009 = `
  TransferInitiation = GrpHdr:TransferHeader PmtInf+:TransferPayment
  TransferHeader = MsgId:Max35Text CreDtTm:ISODateTime Authstn{0,2}:Authorisation NbOfTxs:Max15NumericText CtrlSum?:DecimalNumber
    InitgPty:Party FwdgAgt?:Agent
  TransferPayment = PmtInfId:Max35Text PmtMtd:TransferMethod BtchBookg?:Indicator NbOfTxs?:Max15NumericText CtrlSum?:DecimalNumber
    PmtTpInf?:TransferType ReqdExctnDt:ISODate PoolgAdjstmntDt?:ISODate Dbtr:Party DbtrAcct:Account DbtrAgt:Agent DbtrAgtAcct?:Account
    UltmtDbtr?:Party ChrgBr?:ChargeBearer ChrgsAcct?:Account ChrgsAcctAgt?:Agent CdtTrfTxInf+:Transfer
  TransferType = InstrPrty?:Priority SvcLvl?:Code4OrProprietary LclInstrm?:Code35OrProprietary CtgyPurp?:Code4OrProprietary
  Transfer = PmtId:PaymentId PmtTpInf?:TransferType Amt:AmountChoice XchgRateInf?:ExchangeRate ChrgBr?:ChargeBearer ChqInstr?:Cheque
    UltmtDbtr?:Party IntrmyAgt1?:Agent IntrmyAgt1Acct?:Account IntrmyAgt2?:Agent IntrmyAgt2Acct?:Account IntrmyAgt3?:Agent
    IntrmyAgt3Acct?:Account CdtrAgt?:Agent CdtrAgtAcct?:Account Cdtr?:Party CdtrAcct?:Account UltmtCdtr?:Party
    InstrForCdtrAgt*:CreditorAgentInstruction InstrForDbtrAgt?:Max140Text Purp?:Code4OrProprietary RgltryRptg{0,10}:RegulatoryReporting
    Tax?:Tax RltdRmtInf{0,10}:RemittanceLocation RmtInf?:Remittance
  PaymentId = InstrId?:Max35Text EndToEndId:Max35Text
  AmountChoice | InstdAmt:Amount EqvtAmt:EquivalentAmount
  EquivalentAmount = Amt:Amount CcyOfTrf:Currency
  ExchangeRate = XchgRate?:Rate RateTp?:RateType CtrctId?:Max35Text
  CreditorAgentInstruction = Cd?:CreditorAgentCode InstrInf?:Max140Text

  DebitInitiation = GrpHdr:DebitHeader PmtInf+:DebitPayment
  DebitHeader = MsgId:Max35Text CreDtTm:ISODateTime Authstn{0,2}:Authorisation NbOfTxs:Max15NumericText CtrlSum?:DecimalNumber
    InitgPty:Party FwdgAgt?:Agent
  DebitPayment = PmtInfId:Max35Text PmtMtd:DebitMethod BtchBookg?:Indicator NbOfTxs?:Max15NumericText CtrlSum?:DecimalNumber
    PmtTpInf?:DebitType ReqdColltnDt:ISODate Cdtr:Party CdtrAcct:Account CdtrAgt:Agent CdtrAgtAcct?:Account UltmtCdtr?:Party
    ChrgBr?:ChargeBearer ChrgsAcct?:Account ChrgsAcctAgt?:Agent CdtrSchmeId?:Party DrctDbtTxInf+:Debit
  DebitType = InstrPrty?:Priority SvcLvl?:Code4OrProprietary LclInstrm?:Code35OrProprietary SeqTp?:SequenceType CtgyPurp?:Code4OrProprietary
  Debit = PmtId:PaymentId PmtTpInf?:DebitType InstdAmt:Amount ChrgBr?:ChargeBearer DrctDbtTx?:DebitTransaction UltmtCdtr?:Party
    DbtrAgt:Agent DbtrAgtAcct?:Account Dbtr:Party DbtrAcct:Account UltmtDbtr?:Party InstrForCdtrAgt?:Max140Text
    Purp?:Code4OrProprietary RgltryRptg{0,10}:RegulatoryReporting Tax?:Tax RltdRmtInf{0,10}:RemittanceLocation RmtInf?:Remittance
  DebitTransaction = MndtRltdInf?:Mandate CdtrSchmeId?:Party PreNtfctnId?:Max35Text PreNtfctnDt?:ISODate
  Mandate = MndtId?:Max35Text DtOfSgntr?:ISODate AmdmntInd?:Indicator AmdmntInfDtls?:Amendment ElctrncSgntr?:Max1025Text
    FrstColltnDt?:ISODate FnlColltnDt?:ISODate Frqcy?:Frequency
  Amendment = OrgnlMndtId?:Max35Text OrgnlCdtrSchmeId?:Party OrgnlCdtrAgt?:Agent OrgnlCdtrAgtAcct?:Account OrgnlDbtr?:Party
    OrgnlDbtrAcct?:Account OrgnlDbtrAgt?:Agent OrgnlDbtrAgtAcct?:Account OrgnlFnlColltnDt?:ISODate OrgnlFrqcy?:Frequency

  Party = Nm?:Max140Text PstlAdr?:Address Id?:PartyId CtryOfRes?:Country CtctDtls?:Contact
  PartyId | OrgId:OrganisationId PrvtId:PersonId
  OrganisationId = BICOrBEI?:BIC Othr*:GenericId
  PersonId = DtAndPlcOfBirth?:Birth Othr*:GenericId
  GenericId = Id:Max35Text SchmeNm?:Code4OrProprietary Issr?:Max35Text
  Birth = BirthDt:ISODate PrvcOfBirth?:Max35Text CityOfBirth:Max35Text CtryOfBirth:Country
  Address = AdrTp?:AddressType Dept?:Max70Text SubDept?:Max70Text StrtNm?:Max70Text BldgNb?:Max16Text PstCd?:Max16Text
    TwnNm?:Max35Text CtrySubDvsn?:Max35Text Ctry?:Country AdrLine{0,7}:Max70Text
  NameAndAddress = Nm:Max140Text Adr:Address
  Contact = NmPrfx?:NamePrefix Nm?:Max140Text PhneNb?:PhoneNumber MobNb?:PhoneNumber FaxNb?:PhoneNumber EmailAdr?:Max2048Text
    Othr?:Max35Text
  Account = Id:AccountId Tp?:AccountType Ccy?:Currency Nm?:Max70Text
  AccountId | IBAN:IBAN Othr:GenericAccount
  GenericAccount = Id:Max34Text SchmeNm?:Code4OrProprietary Issr?:Max35Text
  AccountType | Cd:AccountTypeCode Prtry:Max35Text
  Agent = FinInstnId:Institution BrnchId?:Branch
  Institution = BIC?:BIC ClrSysMmbId?:ClearingMember Nm?:Max140Text PstlAdr?:Address Othr?:GenericId
  Branch = Id?:Max35Text Nm?:Max140Text PstlAdr?:Address
  ClearingMember = ClrSysId?:Code5OrProprietary MmbId:Max35Text
  Authorisation | Cd:AuthorisationCode Prtry:Max128Text
  Code4OrProprietary | Cd:Max4Text Prtry:Max35Text
  Code5OrProprietary | Cd:Max5Text Prtry:Max35Text
  Code35OrProprietary | Cd:Max35Text Prtry:Max35Text
  Code4AndIssuer = CdOrPrtry:Code4OrProprietary Issr?:Max35Text

  Cheque = ChqTp?:ChequeType ChqNb?:Max35Text ChqFr?:NameAndAddress DlvryMtd?:ChequeDelivery DlvrTo?:NameAndAddress InstrPrty?:Priority
    ChqMtrtyDt?:ISODate FrmsCd?:Max35Text MemoFld{0,2}:Max35Text RgnlClrZone?:Max35Text PrtLctn?:Max35Text
  ChequeDelivery | Cd:ChequeDeliveryCode Prtry:Max35Text
  RegulatoryReporting = DbtCdtRptgInd?:ReportingSide Authrty?:Authority Dtls*:ReportingDetails
  Authority = Nm?:Max140Text Ctry?:Country
  ReportingDetails = Tp?:Max35Text Dt?:ISODate Ctry?:Country Cd?:Max10Text Amt?:Amount Inf*:Max35Text
  Tax = Cdtr?:TaxCreditor Dbtr?:TaxDebtor AdmstnZn?:Max35Text RefNb?:Max140Text Mtd?:Max35Text TtlTaxblBaseAmt?:Amount TtlTaxAmt?:Amount
    Dt?:ISODate SeqNb?:Number Rcrd*:TaxRecord
  TaxCreditor = TaxId?:Max35Text RegnId?:Max35Text TaxTp?:Max35Text
  TaxDebtor = TaxId?:Max35Text RegnId?:Max35Text TaxTp?:Max35Text Authstn?:TaxAuthorisation
  TaxAuthorisation = Titl?:Max35Text Nm?:Max140Text
  TaxRecord = Tp?:Max35Text Ctgy?:Max35Text CtgyDtls?:Max35Text DbtrSts?:Max35Text CertId?:Max35Text FrmsCd?:Max35Text Prd?:TaxPeriod
    TaxAmt?:TaxAmount AddtlInf?:Max140Text
  TaxPeriod = Yr?:ISODate Tp?:TaxPeriodCode FrToDt?:DatePeriod
  DatePeriod = FrDt:ISODate ToDt:ISODate
  TaxAmount = Rate?:Rate TaxblBaseAmt?:Amount TtlAmt?:Amount Dtls*:TaxRecordDetails
  TaxRecordDetails = Prd?:TaxPeriod Amt:Amount

  RemittanceLocation = RmtId?:Max35Text RmtLctnMtd?:LocationMethod RmtLctnElctrncAdr?:Max2048Text RmtLctnPstlAdr?:NameAndAddress
  Remittance = Ustrd*:Max140Text Strd*:StructuredRemittance
  StructuredRemittance = RfrdDocInf*:ReferredDocument RfrdDocAmt?:RemittanceAmount CdtrRefInf?:CreditorReference Invcr?:Party
    Invcee?:Party AddtlRmtInf{0,3}:Max140Text
  ReferredDocument = Tp?:DocumentType Nb?:Max35Text RltdDt?:ISODate
  DocumentType = CdOrPrtry:DocumentTypeChoice Issr?:Max35Text
  DocumentTypeChoice | Cd:DocumentTypeCode Prtry:Max35Text
  RemittanceAmount = DuePyblAmt?:Amount DscntApldAmt?:Amount CdtNoteAmt?:Amount TaxAmt?:Amount AdjstmntAmtAndRsn*:Adjustment
    RmtdAmt?:Amount
  Adjustment = Amt:Amount CdtDbtInd?:CreditOrDebit Rsn?:Max4Text AddtlInf?:Max140Text
  CreditorReference = Tp?:CreditorReferenceType Ref?:Max35Text
  CreditorReferenceType = CdOrPrtry:CreditorReferenceChoice Issr?:Max35Text
  CreditorReferenceChoice | Cd:CreditorReferenceCode Prtry:Max35Text
`;

/** pain.001.001.08: dates with a time, BICFI and AnyBIC, lines of invoices, supplementary data. */
const year2017 = `
  TransferInitiation ~ PmtInf>SplmtryData*:SupplementaryData
  DebitInitiation ~ PmtInf>SplmtryData*:SupplementaryData
  TransferPayment ~ ReqdExctnDt:DateOrTime DbtrAgtAcct>InstrForDbtrAgt?:Max140Text
  DateOrTime | Dt:ISODate DtTm:ISODateTime
  Transfer ~ RmtInf>SplmtryData*:SupplementaryData
  ExchangeRate = UnitCcy?:Currency XchgRate?:Rate RateTp?:RateType CtrctId?:Max35Text
  SupplementaryData = PlcAndNm?:Max350Text Envlp:Any
  OrganisationId = AnyBIC?:BIC Othr*:GenericId
  Institution = BICFI?:BIC ClrSysMmbId?:ClearingMember Nm?:Max140Text PstlAdr?:Address Othr?:GenericId
  AccountType | Cd:Max4Text Prtry:Max35Text
  Cheque ~ PrtLctn>Sgntr{0,5}:Max70Text
  RemittanceLocation = RmtId?:Max35Text RmtLctnDtls*:LocationDetails
  LocationDetails = Mtd:LocationMethod ElctrncAdr?:Max2048Text PstlAdr?:NameAndAddress
  StructuredRemittance ~ Invcee>TaxRmt?:RemittedTax TaxRmt>GrnshmtRmt?:Garnishment
  ReferredDocument ~ RltdDt>LineDtls*:DocumentLine
  DocumentTypeChoice | Cd:DocumentOrOrderCode Prtry:Max35Text
  DocumentLine = Id+:DocumentLineId Desc?:Max2048Text Amt?:RemittanceAmount
  DocumentLineId = Tp?:Code4AndIssuer Nb?:Max35Text RltdDt?:ISODate
  RemittanceAmount = DuePyblAmt?:Amount DscntApldAmt*:TypedAmount CdtNoteAmt?:Amount TaxAmt*:TypedAmount
    AdjstmntAmtAndRsn*:Adjustment RmtdAmt?:Amount
  TypedAmount = Tp?:Code4OrProprietary Amt:Amount
  RemittedTax = Cdtr?:TaxCreditor Dbtr?:TaxDebtor UltmtDbtr?:TaxDebtor AdmstnZone?:Max35Text RefNb?:Max140Text Mtd?:Max35Text
    TtlTaxblBaseAmt?:Amount TtlTaxAmt?:Amount Dt?:ISODate SeqNb?:Number Rcrd*:TaxRecord
  Garnishment = Tp:Code4AndIssuer Grnshee?:Party GrnshmtAdmstr?:Party RefNb?:Max140Text Dt?:ISODate RmtdAmt?:Amount
    FmlyMdclInsrncInd?:Indicator MplyeeTermntnInd?:Indicator
`;

/** pain.001.001.09 and pain.008.001.08: structured addresses, LEI, UETR, proxies of accounts, reasons of mandates. */
const year2019 = `
  PaymentId ~ EndToEndId>UETR?:UETR
  TransferType ~ SvcLvl*
  DebitType ~ SvcLvl* SeqTp:SequenceTypeOrRepeated
  Debit ~ RmtInf>SplmtryData*:SupplementaryData
  Mandate ~ Frqcy:FrequencyChoice Frqcy>Rsn?:MandateReason Rsn>TrckgDays?:TwoDigits
  Amendment ~ OrgnlFrqcy:FrequencyChoice OrgnlFrqcy>OrgnlRsn?:MandateReason OrgnlRsn>OrgnlTrckgDays?:TwoDigits
  FrequencyChoice | Tp:FrequencyOrFortnight Prd:FrequencyPeriod PtInTm:FrequencyMoment
  FrequencyPeriod = Tp:FrequencyOrFortnight CntPerPrd:DecimalNumber
  FrequencyMoment = Tp:FrequencyOrFortnight PtInTm:TwoDigits
  MandateReason | Cd:Max4Text Prtry:Max70Text
  OrganisationId = AnyBIC?:BICOf2014 LEI?:LEI Othr*:GenericId
  Address = AdrTp?:AddressTypeChoice Dept?:Max70Text SubDept?:Max70Text StrtNm?:Max70Text BldgNb?:Max16Text BldgNm?:Max35Text
    Flr?:Max70Text PstBx?:Max16Text Room?:Max70Text PstCd?:Max16Text TwnNm?:Max35Text TwnLctnNm?:Max35Text DstrctNm?:Max35Text
    CtrySubDvsn?:Max35Text Ctry?:Country AdrLine{0,7}:Max70Text
  AddressTypeChoice | Cd:AddressType Prtry:FourCharacterId
  FourCharacterId = Id:FourCharacters Issr:Max35Text SchmeNm?:Max35Text
  Contact = NmPrfx?:NamePrefixOrNeutral Nm?:Max140Text PhneNb?:PhoneNumber MobNb?:PhoneNumber FaxNb?:PhoneNumber EmailAdr?:Max2048Text
    EmailPurp?:Max35Text JobTitl?:Max35Text Rspnsblty?:Max35Text Dept?:Max70Text Othr*:OtherContact PrefrdMtd?:ContactMethod
  OtherContact = ChanlTp:Max4Text Id?:Max128Text
  Account ~ Nm>Prxy?:AccountProxy
  AccountProxy = Tp?:Code4OrProprietary Id:Max2048Text
  Institution ~ BICFI:BICOf2014 ClrSysMmbId>LEI?:LEI
  Branch ~ Id>LEI?:LEI
  Tax = Cdtr?:TaxCreditor Dbtr?:TaxDebtor AdmstnZone?:Max35Text RefNb?:Max140Text Mtd?:Max35Text TtlTaxblBaseAmt?:Amount
    TtlTaxAmt?:Amount Dt?:ISODate SeqNb?:Number Rcrd*:TaxRecord
`;

/** pain.001.001.10 and pain.008.001.09: mandates of transfers, requested advice, instructions by external codes. */
const year2021 = `
  TransferHeader ~ FwdgAgt>InitnSrc?:InitiationSource
  InitiationSource = Nm:Max140Text Prvdr?:Max35Text Vrsn?:Max35Text
  TransferPayment ~ PmtMtd>ReqdAdvcTp?:Advice
  DebitPayment ~ PmtMtd>ReqdAdvcTp?:Advice
  Advice = CdtAdvc?:AdviceChoice DbtAdvc?:AdviceChoice
  AdviceChoice | Cd:AdviceCode Prtry:Max35Text
  Transfer ~ ChrgBr>MndtRltdInf?:TransferMandate InstrForCdtrAgt:AgentInstruction InstrForDbtrAgt:AgentInstruction
  AgentInstruction = Cd?:Max4Text InstrInf?:Max140Text
  TransferMandate = MndtId?:Max35Text Tp?:MandateType DtOfSgntr?:ISODate DtOfVrfctn?:ISODateTime ElctrncSgntr?:Binary
    FrstPmtDt?:ISODate FnlPmtDt?:ISODate Frqcy?:FrequencyChoice Rsn?:MandateReason
  MandateType = SvcLvl?:Code4OrProprietary LclInstrm?:Code35OrProprietary CtgyPurp?:Code4OrProprietary Clssfctn?:MandateClass
  MandateClass | Cd:MandateClassCode Prtry:Max35Text
`;

/** pain.001.001.11 and pain.008.001.10: years of taxes, accounts that are known by their proxy only. */
const year2022 = `
  Account ~ Id?
  TaxPeriod ~ Yr:ISOYear
`;

/** pain.001.001.12 and pain.008.001.11: longer addresses and identifications, external codes of documents. */
const year2023 = `
  GenericId ~ Id:Max256Text
  Address ~ AdrTp>CareOf?:Max140Text StrtNm:Max140Text BldgNm:Max140Text Flr>UnitNb?:Max16Text TwnNm:Max140Text
    TwnLctnNm:Max140Text DstrctNm:Max140Text
  Contact ~ FaxNb>URLAdr?:Max2048Text EmailAdr:Max256Text PrefrdMtd:ContactMethodOrOnline
  Institution ~ Othr:InstitutionId
  InstitutionId = Id:Max35Text SchmeNm?:Code4OrProprietary Issr?:Max35Text
  Tax ~ Dbtr>UltmtDbtr?:TaxDebtor
  ReferredDocument = Tp?:Code4AndIssuer Nb?:Max35Text RltdDt?:TypedDate LineDtls*:DocumentLine
  TypedDate = Tp:Code4OrProprietary Dt:ISODate
  RemittanceAmount = RmtAmtAndTp*:RemittedAmount AdjstmntAmtAndRsn*:Adjustment
  RemittedAmount = Tp:Code4OrProprietary Amt:Amount
  CreditorReferenceChoice | Cd:Max4Text Prtry:Max35Text
`;

/** pain.001.001.13 and pain.008.001.12: securities that are paid, external codes of regulatory reporting. */
const year2025 = `
  StructuredRemittance ~ GrnshmtRmt>SctiesData*:Securities
  Securities = UnqTxIdr:UTI Amt?:Amount
  RegulatoryReporting ~ DbtCdtRptgInd!
  ReportingDetails = Tp?:Code4OrProprietary Dt?:ISODate Ctry?:Country RptgCd?:Max10Text Amt?:Amount Inf*:Max35Text
`;

/** The creditor of direct debits, as German banks accept it. */
const germanCreditor = `
  CreditorScheme = Id:CreditorSchemeId
  CreditorSchemeId = PrvtId:CreditorSchemePerson
  CreditorSchemePerson = Othr:CreditorIdentifier
  SepaScheme = Prtry:SepaSchemeName
`;

/** The versions of ISO 20022 as German banks accept them. Elements that they leave out are accepted here. */
const german = `
  TransferHeader ~ MsgId:Identification CtrlSum!
  TransferPayment ~ PmtInfId:Identification CtrlSum!
  TransferType ~ SvcLvl!
  DebitHeader ~ MsgId:Identification CtrlSum!
  DebitPayment ~ PmtInfId:Identification CtrlSum! CdtrSchmeId:CreditorScheme
  DebitType ~ SvcLvl! LclInstrm! SeqTp!
  DebitTransaction ~ CdtrSchmeId:CreditorScheme
  PaymentId ~ InstrId:Identification EndToEndId:Identification
  Mandate ~ MndtId!:Identification DtOfSgntr!
  Amendment ~ OrgnlMndtId:Identification
  CreditorIdentifier = Id:CreditorIdentification SchmeNm:SepaScheme
  CreditorReference ~ Tp! Ref!
`;

const german2009 = `
  Institution | BIC:BIC Othr:GenericId
  Remittance | Ustrd:Max140Text Strd:StructuredRemittance
`;

const german2019 = `
  Remittance ~ Ustrd?
`;

/** The tables of the versions, each with those before it. */
const years = {
  ...{ 2009: year2009, 2017: year2017, 2019: year2019, 2021: year2021, 2022: year2022, 2023: year2023 },
  2025: year2025,
};

export type SchemaYear = keyof typeof years;

/** Whose restrictions a message follows: none, or those of German banks. */
export type SchemaCommunity = 'iso' | 'dk';

/** The lines of a version: later ones replace earlier ones of the same name. */
export function schemaTables(year: SchemaYear, community: SchemaCommunity): readonly string[] {
  const tables = Object.entries(years).flatMap(([of, table]) => (Number(of) <= year ? [table] : []));
  if (community === 'iso') return tables;
  return [...tables, germanCreditor, german, year === 2009 ? german2009 : german2019];
}

/** Codes by the name of their type. */
export const schemaCodes: Readonly<Record<string, string>> = {
  AccountTypeCode: 'CASH CHAR COMM TAXE CISH TRAS SACC CACC SVGS ONDP MGLD NREX MOMA LOAN SLRY ODFT',
  AddressType: 'ADDR PBOX HOME BIZZ MLTO DLVY',
  AdviceCode: 'ADWD ADND',
  AuthorisationCode: 'AUTH FDET FSUM ILEV',
  ChargeBearer: 'DEBT CRED SHAR SLEV',
  ChequeDeliveryCode: 'MLDB MLCD MLFA CRDB CRCD CRFA PUDB PUCD PUFA RGDB RGCD RGFA',
  ChequeType: 'CCHQ CCCH BCHQ DRFT ELDR',
  ContactMethod: 'LETT MAIL PHON FAXX CELL',
  ContactMethodOrOnline: 'LETT MAIL PHON FAXX CELL ONLI',
  CreditOrDebit: 'CRDT DBIT',
  CreditorAgentCode: 'CHQB HOLD PHOB TELB',
  CreditorReferenceCode: 'RADM RPIN FXDR DISP PUOR SCOR',
  DebitMethod: 'DD',
  DocumentOrOrderCode: 'MSIN CNFA DNFA CINV CREN DEBN HIRI SBIN CMCN SOAC DISP BOLD VCHR AROI TSUT PUOR',
  DocumentTypeCode: 'MSIN CNFA DNFA CINV CREN DEBN HIRI SBIN CMCN SOAC DISP BOLD VCHR AROI TSUT',
  Frequency: 'YEAR MNTH QURT MIAN WEEK DAIL ADHO INDA',
  FrequencyOrFortnight: 'YEAR MNTH QURT MIAN WEEK DAIL ADHO INDA FRTN',
  LocationMethod: 'FAXI EDIC URID EMAL POST SMSM',
  MandateClassCode: 'FIXE USGB VARI',
  NamePrefix: 'DOCT MIST MISS MADM',
  NamePrefixOrNeutral: 'DOCT MIST MISS MADM MIKS',
  Priority: 'HIGH NORM',
  RateType: 'SPOT SALE AGRD',
  ReportingSide: 'CRED DEBT BOTH',
  SepaSchemeName: 'SEPA',
  SequenceType: 'FRST RCUR FNAL OOFF',
  SequenceTypeOrRepeated: 'FRST RCUR FNAL OOFF RPRE',
  TaxPeriodCode: 'MM01 MM02 MM03 MM04 MM05 MM06 MM07 MM08 MM09 MM10 MM11 MM12 QTR1 QTR2 QTR3 QTR4 HLF1 HLF2',
  TransferMethod: 'CHK TRF TRA',
};

/** Patterns of XML Schema by the name of their type, and what they are in words. */
export const schemaPatterns: Readonly<Record<string, readonly [pattern: string, words: string]>> = {
  BIC: ['[A-Z]{6}[A-Z2-9][A-NP-Z0-9]([A-Z0-9]{3})?', 'a BIC of 8 or 11 capital letters and digits, such as COBADEFF'],
  BICOf2014: [
    '[A-Z0-9]{4}[A-Z]{2}[A-Z0-9]{2}([A-Z0-9]{3})?',
    'a BIC of 8 or 11 capital letters and digits, such as COBADEFF',
  ],
  Country: ['[A-Z]{2}', 'a country code of two capital letters, such as DE'],
  Currency: ['[A-Z]{3}', 'a currency code of three capital letters, such as EUR'],
  CreditorIdentification: [
    String.raw`[A-Za-z]{2}[0-9]{2}[A-Za-z0-9]{3}[A-Za-z0-9+?/\-:().,']{1,28}`,
    'a creditor identifier, such as DE98ZZZ09999999999',
  ],
  FourCharacters: ['[a-zA-Z0-9]{4}', 'four letters or digits'],
  IBAN: ['[A-Z]{2}[0-9]{2}[a-zA-Z0-9]{1,30}', 'an IBAN without spaces'],
  Identification: [String.raw`[A-Za-z0-9+|?/\-:().,' ]{1,35}`, "1 to 35 letters, digits, spaces and /-?:().,'+"],
  LEI: ['[A-Z0-9]{18}[0-9]{2}', 'an LEI of 18 capital letters or digits and two digits'],
  Max15NumericText: ['[0-9]{1,15}', 'a number of 1 to 15 digits'],
  PhoneNumber: [String.raw`\+[0-9]{1,3}-[0-9()+\-]{1,30}`, 'a telephone number such as +49-301234567'],
  TwoDigits: ['[0-9]{2}', 'two digits'],
  UTI: ['[A-Z0-9]{18}[0-9]{2}[A-Z0-9]{0,32}', 'a UTI of capital letters and digits, which begins with an LEI'],
  UETR: [
    '[a-f0-9]{8}-[a-f0-9]{4}-4[a-f0-9]{3}-[89ab][a-f0-9]{3}-[a-f0-9]{12}',
    'a UUID of version 4 in lower case, such as 8a562c67-ca16-48ba-b074-65581be6f001',
  ],
};

export interface DecimalFacets {
  /** Leading zeros, and those at the end of the decimals, do not count. */
  digits: number;
  decimals: number;
  min?: number;
}

/** Numbers by the name of their type. */
export const schemaDecimals = {
  Amount: { digits: 18, decimals: 5, min: 0 },
  DecimalNumber: { digits: 18, decimals: 17 },
  Number: { digits: 18, decimals: 0 },
  Rate: { digits: 11, decimals: 10 },
} as const satisfies Record<string, DecimalFacets>;
