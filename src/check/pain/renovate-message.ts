import type { SaxesTagNS } from 'saxes';
import { PaymentFileError } from '../open-file.ts';
import { type CopyOptions, copyMessage, type Reviser, type Revision, type Source } from './copy-message.ts';
import type { XmlElement } from './elements.ts';
import { findVersion, namespacePrefix, renewVersions } from './message-versions.ts';
import { type ElementRevision, placeRevision, renovateElement, structureAddress } from './revise-elements.ts';

/**
 * A copy of a message of 2009 or 2017 in the version of 2019: its namespace, and the elements that have other names or are in others. Addresses of
 * lines become structured if they can be read in one way. Each other byte is as it was.
 * @throws PaymentFileError if it is of another version
 * @throws Refusal if it cannot be read to its end
 */
export function renovateMessage(chunks: AsyncIterable<Buffer>, options: Pick<CopyOptions, 'onChange'>) {
  return copyMessage(chunks, { createReviser, ...options });
}

function createReviser(revise: (revision: Revision) => void): Reviser {
  let [former, renewed] = ['', ''];
  const add = (element: XmlElement, revision: ElementRevision | null) => {
    if (revision !== null) revise(placeRevision(revision, element));
  };
  return {
    parts: {
      findVersion(namespace) {
        const version = findVersion(namespace);
        if (version.year >= 2019) {
          const advice = '--renovate is for versions before 2019, and --fix also structures addresses of later ones';
          throw new PaymentFileError(`the message is ${version.name}: ${advice}`);
        }
        [former, renewed] = [namespace, namespacePrefix + renewVersions(version.name)];
        return version;
      },
    },
    elements: {
      open: (element, tag) => add(element, renewNamespace(element, tag, former, renewed)),
      close: (element) => {
        const isAddress = element.name === 'PstlAdr' || element.name === 'Adr';
        add(element, isAddress ? structureAddress(element) : renovateElement(element));
      },
    },
  };
}

/** Where it is declared, also in the places of schemas, which name the version. */
function renewNamespace(
  { start }: XmlElement,
  { ns, attributes }: SaxesTagNS,
  former: string,
  renewed: string,
): ElementRevision | null {
  if (!Object.values(ns).includes(former)) return null;
  const edit = (source: Source) => {
    const tag = source.lastTag(start);
    const written = source.text(tag, start).matchAll(/([^\s=]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g);
    return [...written].flatMap(({ index, 0: all, 1: name = '', 2: double, 3: value = double ?? '' }) => {
      const isNamespace = attributes[name]?.value === former;
      const after = isNamespace ? renewed : renewVersions(value.replaceAll(former, renewed));
      const end = tag + index + all.length - 1;
      return after === value ? [] : [{ start: end - value.length, end, written: after }];
    });
  };
  return { code: 'VERSION_ENDED', before: former, after: renewed, edit };
}
