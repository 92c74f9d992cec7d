/** The sum of each digit times its weight; the weights repeat if there are more digits. */
export function weightedSum(digits: string, weights: readonly number[]): number {
  let sum = 0;
  for (let index = 0; index < digits.length; index += 1) {
    sum += Number(digits[index]) * (weights[index % weights.length] ?? 0);
  }
  return sum;
}
