import { expect, it } from 'vitest';
import { validateXML } from 'xmllint-wasm';
import { createAnswers } from '../../../src/check/answers/answers.ts';
import { SchemaComparison } from '../../../src/check/pain/check-schema.ts';
import { MessageFindings } from '../../../src/check/pain/findings.ts';
import { findVersion } from '../../../src/check/pain/message-versions.ts';
import type { Profile } from '../../../src/check/pain/profiles.ts';
import { MessageReader } from '../../../src/check/pain/read-message.ts';
import { changes, createSample, type Node, printSchema, printXml, readSchema } from '../../support/check/mutate-xml.ts';

/* Our comparison with the tables agrees with an XML Schema processor (libxml2) on schemas that are derived from the same tables. */

const supported = namesOfVersions();
const cases = supported
  .map((name) => findVersion(`urn:iso:std:iso:20022:tech:xsd:${name}`))
  .flatMap((version) => {
    const isAccepted = version.year === 2009 || version.year === 2019;
    const communities = isAccepted ? (['iso', 'dk'] as const) : (['iso'] as const);
    return communities.map((community) => ({ ...version, community }));
  });

it('has all versions', () => {
  expect(supported).toHaveLength(13);
});

it.each(cases)('$name as $community has it', { timeout: 120_000 }, async ({ name, message, year, community }) => {
  const namespace = `urn:iso:std:iso:20022:tech:xsd:${name}`;
  const schema = readSchema(message, year, community);
  const right = printXml(createSample(schema, namespace));
  const profile = community === 'dk' ? 'dk' : 'auto';
  expect(await findBySchema(right, profile)).toEqual([]);
  const changed = changeEach(createSample(schema, namespace));
  const files = [right, ...changed.map(({ xml }) => xml)].map((contents, index) => ({
    fileName: `${index}.xml`,
    contents,
  }));
  const { errors } = await validateXML({ xml: files, schema: printSchema(schema, namespace), maxMemoryPages: 4096 });
  const refused = new Set(errors.map(({ loc }) => loc?.fileName));
  expect(refused).not.toContain('0.xml');

  const wrong: string[] = [];
  for (const [index, { what, xml }] of changed.entries()) {
    const found = await findBySchema(xml, profile);
    if (found.length > 0 !== refused.has(`${index + 1}.xml`)) wrong.push(`${what}: ${found}`);
  }
  expect(wrong).toEqual([]);
  expect(refused.size).toBeGreaterThan(changed.length / 2);
});

/** As the refusal of another one lists them. */
function namesOfVersions(): readonly string[] {
  try {
    findVersion('urn:iso:std:iso:20022:tech:xsd:other');
  } catch (error) {
    return String(error).match(/pain\.00\d\.001\.\d\d/g) ?? [];
  }
  return [];
}

async function findBySchema(xml: string, profile: Profile): Promise<readonly string[]> {
  const findings = new MessageFindings(createAnswers(null));
  const reader = new MessageReader({ findVersion }, [new SchemaComparison(findings, profile)]);
  reader.write(xml);
  reader.end();
  findings.endPart();
  const messages: string[] = [];
  for await (const { message } of findings.take(() => true)) messages.push(message);
  return messages;
}

/** Each element once, with the next change. What is in supplementary data is not compared. */
function changeEach(document: Node): { what: string; xml: string }[] {
  const kinds = Object.keys(changes).filter((change) => !change.endsWith('-padded'));
  return list(document).flatMap((way, index, { length }) => {
    const { copy, node, parent } = copyAlong(way, document);
    const kind = kinds[(index * 5 + Math.floor(index / length)) % kinds.length] ?? '';
    const isLeaf = node.text !== null;
    // Texts of elements that have none, and their totals, are compared by other rules.
    if (isLeaf !== leafChanges.has(kind) && (leafChanges.has(kind) || parentChanges.has(kind))) return [];
    if (['NbOfTxs', 'CtrlSum'].includes(node.name) && leafChanges.has(kind)) return [];
    changes[kind]?.({ node, parent });
    return [{ what: `${kind} ${parent.name}/${node.name}`, xml: printXml(copy) }];
  });
}

const leafChanges: ReadonlySet<string> = new Set(['empty', 'child-in-leaf', 'bad-value', 'long-200', 'lower']);
const parentChanges: ReadonlySet<string> = new Set([
  ...['unknown-child', 'stray-text-first', 'stray-text-last', 'text-for-children', 'emptied'],
]);

/** The way to each element in the message: positions among the children. */
function list(document: Node): number[][] {
  const below = ({ children }: Node, way: number[]): number[][] =>
    children.flatMap((node, position) => {
      if (node.name === 'Envlp') return [];
      const found = [...way, position];
      return [found, ...below(node, found)];
    });
  return document.children.flatMap((message, position) => below(message, [position]));
}

/** A copy that shares all elements but those on the way to one, which can be changed. */
function copyAlong(way: readonly number[], document: Node): { copy: Node; node: Node; parent: Node } {
  const copyOf = (node: Node): Node => ({ ...node, attributes: { ...node.attributes }, children: [...node.children] });
  const copy = copyOf(document);
  let [node, parent] = [copy, copy];
  for (const position of way) {
    parent = node;
    node = copyOf(parent.children[position] as Node);
    parent.children[position] = node;
  }
  return { copy, node, parent };
}
