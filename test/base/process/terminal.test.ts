import { expect, it } from 'vitest';
import { countOf, escapeControls } from '../../../src/base/process/terminal.ts';

it.each([
  [0, 'row', '0 rows'],
  [1, 'branch', '1 branch'],
  [1_500, 'branch', '1,500 branches'],
  [2, 'address', '2 addresses'],
])('counts %i of a %s', (number, noun, expected) => {
  expect(countOf(number, noun)).toBe(expected);
});

it('escapes all control and bidirectional characters, but no line breaks and tabs', () => {
  const control = /^[\p{Cc}\p{Bidi_Control}]$/u;
  for (let code = 0; code < 0x10000; code += 1) {
    const character = String.fromCharCode(code);
    const isKept = !control.test(character) || character === '\n' || character === '\t';
    const shown = isKept ? character : `\\u${code.toString(16).padStart(4, '0')}`;
    if (escapeControls(character) !== shown) expect(escapeControls(character)).toBe(shown);
  }
  expect(escapeControls('\u001b[2J\u009b1m \u202e\u2066 \r\n\ta\rb')).toBe(
    '\\u001b[2J\\u009b1m \\u202e\\u2066 \r\n\ta\\u000db',
  );
});

it('leaves the meaning of JSON as it was', () => {
  const value = { 'a\u202e': '\u009b\u001b[2J \\u202e' };
  expect(JSON.parse(escapeControls(JSON.stringify(value)))).toEqual(value);
});
