import { findBicProblems } from '../../iban/bic.ts';
import type { RequestContext } from '../../request-context.ts';
import type { BicValidation } from '../bank-data.ts';
import type { CallEndpoint, Endpoint } from './endpoint-call.ts';
import { type BicAnswer, isAboutBic, readBicAnswer } from './wire-bank.ts';

export async function requestBicValidation(
  callEndpoint: CallEndpoint,
  bic: string,
  context: RequestContext,
): Promise<BicValidation> {
  const { valid, bank } = await callEndpoint(check, { input: bic, query: { swift_code: bic } }, context);
  if (valid) return { bic, valid, problems: [], bank };
  const problems = findBicProblems(bic);
  return { bic, valid, problems: problems.length > 0 ? problems : ['REJECTED_BY_SERVICE'], bank };
}

const check: Endpoint<string, BicAnswer> = {
  path: '/bank_data/swift_check',
  isAbout: isAboutBic,
  read: readBicAnswer,
  answer422: () => ({ valid: false, bank: null }),
  isOptional: true,
};
