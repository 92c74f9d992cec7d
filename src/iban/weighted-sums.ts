/* The arithmetic of check digits in account numbers. Weights begin at the last digit, and repeat if there are more digits. */

/** Luhn: weights 2 and 1; a product of two digits counts as their sum. */
export function calcLuhn(checked: string): number {
  const sum = weightedSum(checked, [2, 1], (product) => (product > 9 ? product - 9 : product));
  return (10 - (sum % 10)) % 10;
}

/** The digit that makes the weighted sum a multiple of 10, if its own weight is 1. */
export function calcModulus10(checked: string, weights: readonly number[]): number {
  return (10 - (weightedSum(checked, weights) % 10)) % 10;
}

export function weightedSum(
  checked: string,
  weights: readonly number[],
  toSummand = (product: number) => product,
): number {
  let sum = 0;
  for (let index = 0; index < checked.length; index += 1) {
    const digit = Number(checked[checked.length - 1 - index]);
    sum += toSummand(digit * (weights[index % weights.length] ?? 0));
  }
  return sum;
}
