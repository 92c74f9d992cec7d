// Words in Thai, Lao, Khmer and Burmese. cspell:disable

import { describe, expect, it } from 'vitest';
import { countWords, findWordLimit } from '../../src/base/words.ts';

describe('countWords', () => {
  it.each([
    ['', 0],
    [' \n\t ', 0],
    ['one', 1],
    ['  two\u00a0words ', 2],
    ['a – b', 3],
    ['first line\n\nsecond line', 4],
    ['蜜蜂在城市里飞。', 3],
    ['ミツバチは飛ぶ', 3],
    ['Bees 蜜蜂 fly', 3],
    ['ผึ้งบิน', 2],
    ['ปากกาหมึกซึม ดีมาก!', 5],
    ['The word ปากกา is a pen', 6],
    ['ຂ້ອຍຮັກພາສາລາວ', 4],
    ['ខ្ញុំស្រលាញ់ភាសាខ្មែរ។', 3],
    ['ကျွန်တော်မြန်မာစကားပြောတယ်။', 4],
  ])('counts %j as %i', (text, words) => {
    expect(countWords(text)).toBe(words);
  });

  it('reads a text of 50,000 characters without a space in parts, whose dictionary words it finds', () => {
    const words = countWords('ปากกา'.repeat(10_000));
    expect(words).toBeGreaterThanOrEqual(10_000);
    expect(words).toBeLessThan(10_200);
  });
});

describe('findWordLimit', () => {
  it.each([
    ['Bees fly home.', 2, 'Bees fly'],
    ['Bees fly home.', 3, 'Bees fly home.'],
    ['ผึ้งบินกลับบ้าน', 2, 'ผึ้งบิน'],
    ['ผึ้ง, บินกลับบ้าน', 1, 'ผึ้ง,'],
    ['蜜蜂在城市里飞', 2, '蜜蜂在城市'],
  ])('of %j for %i words is after %j', (text, words, start) => {
    expect(text.slice(0, findWordLimit(text, words))).toBe(start);
  });
});
