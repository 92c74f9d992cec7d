import { SaxesParser } from 'saxes';

/** An element of a message that a test changes. White space between elements is left out. */
export interface Node {
  name: string;
  attributes: Record<string, string>;
  children: Node[];
  /** Null: it has elements. */
  text: string | null;
}

export function parseXml(xml: string): Node {
  const root: Node = { name: '', attributes: {}, children: [], text: null };
  const open = [root];
  const parser = new SaxesParser();
  parser.on('opentag', ({ name, attributes }) => {
    const node = { name, attributes: { ...attributes }, children: [], text: null };
    open.at(-1)?.children.push(node);
    open.push(node);
  });
  parser.on('text', (text) => {
    const node = open.at(-1);
    if (node !== undefined && node.children.length === 0) node.text = (node.text ?? '') + text;
  });
  parser.on('closetag', () => {
    const node = open.pop();
    if (node !== undefined && node.children.length > 0) node.text = null;
  });
  parser.write(xml).close();
  const [document] = root.children;
  if (document === undefined) throw new Error('the message must have a root element');
  return document;
}

export function printXml({ name, attributes, children, text }: Node): string {
  const printed = Object.entries(attributes).map(([key, value]) => ` ${key}="${value}"`);
  const content =
    text === null ? children.map(printXml).join('\n') : text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  return name === '' ? content : `<${name}${printed.join('')}>${content}</${name}>`;
}

/** The first element at a path in the message of a document, such as GrpHdr/MsgId, and its parent; null if there is none. */
export function findNode(document: Node, path: string): { node: Node; parent: Node } | null {
  const [message] = document.children;
  if (message === undefined) return null;
  let found: { node: Node; parent: Node }[] = [{ node: message, parent: document }];
  for (const name of path.split('/').filter((each) => each !== '')) {
    found = found.flatMap(({ node }) =>
      node.children.filter((child) => child.name === name).map((child) => ({ node: child, parent: node })),
    );
  }
  return found[0] ?? null;
}

const stray: Node = { name: '', attributes: {}, children: [], text: 'abc' };
const unknown: Node = { name: 'Foo', attributes: {}, children: [], text: '' };

/** What is done to an element; in place. */
export const changes: Readonly<Record<string, (found: { node: Node; parent: Node }) => void>> = {
  remove: ({ node, parent }) => void parent.children.splice(parent.children.indexOf(node), 1),
  rename: ({ node }) => {
    node.name += 'X';
  },
  duplicate: ({ node, parent }) => void parent.children.splice(parent.children.indexOf(node), 0, node),
  'swap-next': ({ node, parent }) => {
    const index = parent.children.indexOf(node);
    const next = parent.children[index + 1];
    if (next !== undefined) parent.children.splice(index, 2, next, node);
  },
  'move-to-end': ({ node, parent }) => {
    parent.children.splice(parent.children.indexOf(node), 1);
    parent.children.push(node);
  },
  attribute: ({ node }) => {
    node.attributes.foo = 'bar';
  },
  'other-namespace': ({ node }) => {
    node.name = `x:${node.name}`;
    node.attributes['xmlns:x'] = 'urn:x';
  },
  'unknown-child': ({ node }) => void node.children.push(unknown),
  'stray-text-first': ({ node }) => void node.children.unshift(stray),
  'stray-text-last': ({ node }) => void node.children.push(stray),
  'text-for-children': ({ node }) => {
    node.children = [];
    node.text = 'abc';
  },
  emptied: ({ node }) => {
    node.children = [];
    node.text = '';
  },
  empty: ({ node }) => {
    node.text = '';
  },
  'child-in-leaf': ({ node }) => {
    node.children = [{ ...stray, text: node.text ?? '' }, unknown];
    node.text = null;
  },
  'bad-value': ({ node }) => {
    node.text = '?';
  },
  'long-200': ({ node }) => {
    node.text = 'A'.repeat(200);
  },
  lower: ({ node }) => {
    node.text = node.text?.toLowerCase() ?? null;
  },
  'space-padded': ({ node }) => {
    node.text = ` ${node.text} `;
  },
  'newline-padded': ({ node }) => {
    node.text = `\n   ${node.text}\n  `;
  },
};
