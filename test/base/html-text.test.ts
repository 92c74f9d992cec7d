import { expect, it } from 'vitest';
import { htmlToText } from '../../src/base/html-text.ts';

it.each([
  ['paragraphs', '<p>Bees fly.</p><p>They sleep.</p>', 'Bees fly.\n\nThey sleep.'],
  ['line breaks', 'Bees<br/> fly.', 'Bees\nfly.'],
  ['other tags', '<b>Bees</b> <i class="x">fly</i>.', 'Bees fly.'],
  ['comments, scripts and titles', '<title>x</title><!-- x --><script>x</script>Bees', 'Bees'],
  ['references', 'Bees &amp; wasps&#46; &#x1F41D; &lt;b&gt; &nbsp;', 'Bees & wasps. 🐝 <b>'],
  ['an unknown reference', 'Bees &abc; &lang; fly', 'Bees &abc; &lang; fly'],
  ['no tag', 'If a < b, bees fly\n- here', 'If a < b, bees fly\n- here'],
])('the text of HTML with %s', (_, html, text) => {
  expect(htmlToText(html)).toBe(text);
});

it.each(['<p>', '<script>', '<!--', '&#1;', '< p', '\n '])('takes time linear in the length of %j', (part) => {
  const { user } = process.cpuUsage();
  htmlToText(part.repeat(200_000 / part.length));
  // Quadratic time takes minutes.
  expect((process.cpuUsage().user - user) / 1_000).toBeLessThan(10_000);
});
