import { describe, expect, it } from 'vitest';
import { quote, readBrief } from '../../src/essay-service/drafting/brief.ts';
import { readPurposeAndTitles } from '../../src/essay-service/writing-order.ts';

function read(description: string) {
  const { topic, points } = readBrief(description);
  return { topic, points: points.map(({ text }) => text) };
}

describe('purpose and titles', () => {
  it('are read from the sentences that the gateway adds, and removed', () => {
    const description = 'About bees.\n\nWriting purpose: argumentative.\n\nTitle options: One title, Another.';
    const read = { purpose: 'argumentative', titles: ['One title', 'Another'], text: 'About bees.' };
    expect(readPurposeAndTitles(description)).toEqual(read);
  });

  it.each([
    ['Title options: Dr. No, Why Bees?, Version 2.0.', ['Dr. No', 'Why Bees?', 'Version 2.0']],
    ['title option: “Bees, and why” or "Honey"', ['Bees, and why', 'Honey']],
    ['Title options: "Eats, Shoots and Leaves".', ['Eats, Shoots and Leaves']],
    [
      'Title options: One, "Two. Three, four", “The "Real" Thing”, Five.',
      ['One', 'Two. Three, four', 'The "Real" Thing', 'Five'],
    ],
    ['Title options: “Quoted” Bees, «"A" and “B”».', ['“Quoted” Bees', '"A" and “B”']],
    ['Title options: One. Then cover honey.', ['One']],
    ['Title options: .', []],
  ])('%s', (description, titles) => {
    expect(readPurposeAndTitles(description).titles).toEqual(titles);
  });

  it('are not read if the description only mentions them', () => {
    const text = 'What makes a good writing purpose: a dictionary of terms';
    expect(readPurposeAndTitles(text)).toEqual({ purpose: null, titles: [], text });
  });
});

describe('a description', () => {
  it.each<[string, string, string[]]>([
    ['bees', 'bees', []],
    ['Climate change', 'Climate change', []],
    ['The benefits of reading.', 'The benefits of reading', []],
    ['about X: a1, b1 and c1', 'X', ['a1', 'b1', 'c1']],
    ['Write a short essay about remote work: rent, trust, and time.', 'remote work', ['rent', 'trust', 'time']],
    ['Please write me a 500-word article on bees, covering honey and wax', 'bees', ['honey', 'wax']],
    ['Discuss urban farming with a focus on cost, water and noise.', 'urban farming', ['cost', 'water', 'noise']],
    ['Argue that cities should be car-free; mention noise and air', 'cities should be car-free', ['noise', 'air']],
    ['Explain bees. Cover honey (raw, pure) and wax. Keep the tone formal.', 'bees', ['honey (raw, pure)', 'wax']],
    [
      'Explain bees. Cover "Honey, raw", wax and “Sting, and run”.',
      'bees',
      ['"Honey, raw"', 'wax', '“Sting, and run”'],
    ],
    ['Topic: bees\nPoints: honey; wax, candles; pollen', 'bees', ['honey', 'wax, candles', 'pollen']],
    ['Bees\n- Cost of hives\n* 40,000 bees\n3) How to', 'Bees', ['Cost of hives', '40,000 bees', 'How to']],
    ['Write about bees. Cover the following points: 1) honey 2) wax 3) pollen', 'bees', ['honey', 'wax', 'pollen']],
    [
      '<h1>Bees</h1><ul><li>Costs &amp; rules</li><li><b>Time</b></li></ul><script>alert(1)</script>',
      'Bees',
      ['Costs & rules', 'Time'],
    ],
    ['# Reading\n\n**Discuss** [books](http://x.example) and `phones`.', 'Reading', ['books', 'phones']],
    ['Our town closes it. Children use it. Who pays?', 'Our town closes it', ['Children use it.', 'Who pays?']],
    ['Bees matter. They have one enemy: the wasp.', 'Bees matter', ['They have one enemy: the wasp.']],
    ['- honey\n- wax', 'honey, wax', ['honey', 'wax']],
    ['Écrivez un essai sur le télétravail : solitude et argent', 'le télétravail', ['solitude', 'argent']],
    ['钢笔的回归：储墨器、笔舌', '钢笔的回归', ['储墨器', '笔舌']],
    ['🎉🎉', '🎉🎉', []],
  ])('%j', (description, topic, points) => {
    expect(read(description)).toEqual({ topic, points });
  });

  it('keeps the details of a point', () => {
    const { points } = readBrief('Bees\n- Honey: it is sweet. Bears like it.\n- Wax: candles, polish');
    expect(points).toEqual([
      { text: 'Honey: it is sweet.', details: ['Bears like it.'] },
      { text: 'Wax: candles, polish', details: [] },
    ]);
  });

  it('repeats nothing', () => {
    expect(read('Bees fly home. They work. They work! bees fly home.').points).toEqual(['They work.']);
  });

  it('of many sentences is grouped into points', () => {
    const facts = Array.from({ length: 9 }, (_, at) => ` Fact number ${at} is here.`);
    const { points } = readBrief(`Bees matter to us.${facts.join('')}`);
    expect(points.map(({ details }) => details.length + 1)).toEqual([4, 4, 1]);
  });

  it.each([
    ['remote work', 'Remote work'],
    ['iPhone prices', 'iPhone prices'],
    ['Our town closes its library. Children use it.', 'Our town closes its library'],
    [
      'one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen',
      'One two three four five six seven eight nine ten eleven twelve thirteen fourteen…',
    ],
    ['bees\n\nTitle options: City Bees, Honey.', 'City Bees'],
  ])('%j has a title', (description, title) => {
    expect(readBrief(description).title).toBe(title);
  });
});

describe('a name in quotation marks', () => {
  it.each([
    ['loneliness', '“loneliness”'],
    ['the “clean” air, and more.', '“the clean air, and more”'],
    ['The mayor thanks the volunteers for their work.', '“The mayor thanks the volunteers for…”'],
    ['储墨器和笔舌以及笔尖的历史和未来', '“储墨器和笔舌以及笔尖的历史…”'],
  ])('of %j is %s', (text, name) => {
    expect(quote(text)).toBe(name);
  });
});
