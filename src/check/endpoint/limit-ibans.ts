import type { Answers } from '../answers/answers.ts';

/**
 * Bounds the different IBANs that are looked up for one request: further ones are not asked for.
 * @param onFailure receives the code of each failed look-up
 */
export function limitIbans(
  { find, hurry }: Answers,
  maxIbans: number,
  onFailure: (code: string) => void,
): Pick<Answers, 'find' | 'hurry'> {
  const reason = `one request may have ${maxIbans} different IBANs (CHECK_MAX_IBANS)`;
  const asked = new Set<string>();
  return {
    hurry,
    find(iban) {
      if (!asked.has(iban)) {
        if (asked.size >= maxIbans) return { kind: 'not-asked', reason };
        asked.add(iban);
      }
      const answer = find(iban);
      if (answer instanceof Promise)
        answer.then(
          (found) => found.kind === 'failed' && onFailure(found.code),
          () => {},
        );
      return answer;
    },
  };
}
