import { readFileSync } from 'node:fs';

const styles = readFileSync(new URL('graphiql.css', import.meta.url), 'utf8');
const passOnIds = readFileSync(new URL('pass-on-ids.js', import.meta.url), 'utf8');
const addExamples = readFileSync(new URL('add-examples.js', import.meta.url), 'utf8');

/** For text in the editor whose contrast would be less than 4.5. */
const editorColors = {
  light: {
    tokens: { annotation: '#6b6b6b', number: '#077049' },
    others: {
      'editorBracketHighlight.foreground2': '#207020',
      'editorBracketHighlight.unexpectedBracket.foreground': '#cc0000',
      'editorLineNumber.dimmedForeground': '#237893',
      'editorSuggestWidget.selectedForeground': '#b0047a',
    },
  },
  dark: {
    tokens: { annotation: '#e08a8a', comment: '#7cb264', invalid: '#ff8080' },
    others: {
      'editorBracketHighlight.foreground2': '#e590e2',
      'editorBracketHighlight.foreground3': '#5cbaff',
      'editorBracketHighlight.unexpectedBracket.foreground': '#ff8080',
      'editorLineNumber.dimmedForeground': '#a0a0a0',
      'editorLineNumber.foreground': '#a0a0a0',
      'editorSuggestWidget.selectedForeground': '#ff85b3',
    },
  },
};

/** Each matches once in GraphiQL's page. A word at the beginning has `\b`: without it, the search through 9 MB takes ten times as long. */
const replacements: readonly (readonly [RegExp, string])[] = [
  [/<\/style>/, `${styles}</style>`],
  [/(typeof \w+\?\.title=="string"\?\w+\.jsx\()"span"/, '$1"h1"'],
  // Assistive technology ignores the buttons in a `tab`, one of which closes it. A list of buttons has the same keys.
  [/role:"tablist",(className:\w+,children:)/, '$1'],
  [/"aria-selected":\w+,dragElastic:!1,role:"tab",/, 'dragElastic:!1,'],
  [
    /isActive:(\w+===\w+),children:\[(\w+\.jsx\(\w+\.Button,\{)("aria-controls":"graphiql-session")/,
    'isActive:$1,children:[$2"aria-current":$1,$3',
  ],
  [/role:"tabpanel",(id:"graphiql-session")/, 'role:"region",$1'],
  ...Object.entries(editorColors).map(([theme, { tokens, others }]): [RegExp, string] => {
    const rules = Object.entries(tokens).map(([token, foreground]) => JSON.stringify({ token, foreground }));
    return [
      new RegExp(`colors:(\\w+\\("${theme}"\\)),rules:\\[`),
      `colors:{...$1,...${JSON.stringify(others)}},rules:[${rules.join()},`,
    ];
  }),
  [
    /"select",\{(onChange:function\(\w+\)\{return \w+\._setAddOperationType)/,
    '"select",{"aria-label":"Type of operation",$1',
  ],
  // The history is a default plugin of GraphiQL. Yoga's page replaces the default plugins by the Explorer.
  [/\b(\w+)===void 0\?\[(\w+)\]:\1/, '[$2,...($1??[])]'],
  // Another operation of the same text is a new entry, too.
  [
    /(operationName:(\w+)\}\)=>\{if\(!this\.shouldSaveQuery\(\w+,\w+,\w+,)(this\.history\.fetchRecent\(\))/,
    '$1[$3].find((recent)=>recent?.operationName===$2)',
  ],
  // The history keeps no headers, which can contain API keys, and leaves those in the editor as they are.
  [/headers:\w+\.headers\?\?void 0,/, ''],
  [/\b(\w+\?\.setValue\(\w+\?\?""\),)\w+\?\.setValue\(\w+\?\?""\),(\w+\(\w+\.item\))/, '$1$2'],
  // The types and fields of Federation, which begin with one underscore, are for routers.
  [
    /("__schema"in (\w+)\.data\)\w+=)\2\.data/,
    '$1JSON.parse(JSON.stringify($2.data,(key,value)=>Array.isArray(value)?value.filter(({name})=>!/^_[^_]/.test(name)):value))',
  ],
  // The Explorer gives the focus to each text field that appears in it, and so scrolls to the last one while it opens.
  [/!\((\w+) instanceof HTMLTextAreaElement\)(&&\(\w+\.focus\(\))/, '$1.closest(".graphiql-explorer-root")$2'],
  // Otherwise a phone shows only the beginning of each line, and the text of an essay is one line.
  [/automaticLayout:!0,(?=fontSize:15)/, '$&wordWrap:"on",'],
  // The values of arguments in the Explorer.
  [/type:"text",(?=onChange:this\._handleChange,value:)/, '$&"aria-label":this.props.arg.name,'],
  [/"select",\{(?=style:\{color:)/, '$&"aria-label":this.props.arg.name,'],
  [/"select",\{(?=style:\{backgroundColor:)/, '$&"aria-label":this.props.arg.name,'],
  // Named by its visible text.
  [/(className:"graphiql-history-item-label",onClick:\w+),"aria-label":"Set active"/, '$1'],
  // Behind a menu or a dialog, nothing can receive the focus.
  [/(\.querySelectorAll\("\[aria-live\], script"\)\)\),\w+\(\w+,\w+,\w+,)"aria-hidden"/, '$1"inert"'],
];

/** An operation of the history, as GraphiQL stores it. */
export interface Example {
  query: string;
  variables?: string;
  operationName: string;
}

/**
 * Makes the page of GraphiQL accessible, by its markup, its colors, and a layout for phones; adds the history, hides the
 * fields and types for routers, and passes ids on from one example to the next.
 * @param examples those that the history has
 */
export function adaptGraphiql(html: string, examples: readonly Example[] = []): string {
  const favorites = examples.map((example) => ({ ...example, favorite: true, isExample: true }));
  const script = `const examples = ${JSON.stringify(favorites)};\n${addExamples}${passOnIds}`.replaceAll('$', '$$$$');
  // In a block, so that its names are not visible to the page's own script.
  const scripted = [/<div id="root"><\/div>(\s*<script>)/, `<main id="root"></main>$1{\n${script}}\n`] as const;
  return [scripted, ...replacements].reduce((text, [pattern, replacement]) => {
    const [first, ...others] = text.matchAll(new RegExp(pattern, 'g'));
    if (!first || others.length > 0) throw new Error(`GraphiQL has changed: ${pattern} must match once.`);
    // From there on: a second search through 9 MB would take as long as the first.
    const here = new RegExp(pattern, 'y');
    here.lastIndex = first.index;
    return text.replace(here, replacement);
  }, html);
}
