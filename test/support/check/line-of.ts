/**
 * The line of the element at an XPath, such as /Document/PmtInf[2]/NbOfTxs, or of the innermost of its ancestors that is there.
 * Finds the n-th tag of each name within its parent, which is enough where no element has another one of its name in it.
 */
export function lineOf(message: string, xpath: string): number {
  let [start, end] = [0, message.length];
  for (const [, name = '', index = '1'] of xpath.matchAll(/\/(\w+)(?:\[(\d+)\])?/g)) {
    const tags = [...message.slice(start, end).matchAll(new RegExp(`<${name}[ >/]`, 'g'))];
    const tag = tags[Number(index) - 1];
    if (tag === undefined) break;
    start += tag.index + 1;
    end = message.indexOf(`</${name}>`, start);
  }
  return message.slice(0, start).split('\n').length;
}
