import fc from 'fast-check';
import { expect, it } from 'vitest';
import { rules } from '../../../src/check/finding.ts';
import { findAllIn, rightMessage, versions } from '../../support/check/pain-messages.ts';
import { anyCharacter, rounds } from '../../support/random.ts';

/* Whatever is done to a message, the check ends with findings of the table, and their messages have no IBAN. */

const ibans = ['DE89370400440532013000', 'FR1420041010050500013M02606', 'NL91ABNA0417164300'];

const damage = fc.record({
  version: fc.constantFrom(...versions),
  at: fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
  removed: fc.nat({ max: 60 }),
  inserted: fc.oneof(
    fc.string({ unit: anyCharacter, maxLength: 20 }),
    fc.constantFrom(
      '<',
      '>',
      '</',
      '<!--',
      '<![CDATA[',
      '&',
      '&#0;',
      '<Nm>',
      '</PmtInf>',
      '<PmtInf>',
      '<IBAN>',
      '<?xml?>',
    ),
  ),
  isCutOff: fc.boolean(),
});

it('a damaged message has findings, and no fault', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(damage, { minLength: 1, maxLength: 3 }), async (damages) => {
      let message = rightMessage(damages[0]?.version ?? 'pain.001.001.03');
      for (const { at, removed, inserted } of damages) {
        const start = Math.floor(at * message.length);
        message = message.slice(0, start) + inserted + message.slice(start + removed);
      }
      if (damages[0]?.isCutOff) message = message.slice(0, Math.floor(damages[0].at * message.length));
      const { findings, summary } = await findAllIn(message);
      expect(summary.isComplete || findings.length > 0).toBe(true);
      for (const finding of findings) {
        expect(rules).toHaveProperty(finding.code);
        expect(ibans.filter((iban) => finding.message.replaceAll(' ', '').includes(iban))).toEqual([]);
      }
    }),
    { numRuns: rounds(100) },
  );
});
