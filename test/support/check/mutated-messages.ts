import { type Node, parseXml, printXml } from './mutate-xml.ts';
import { rightMessage, type Version } from './pain-messages.ts';

/**
 * The right message with the elements that the verdicts of `test/data/pain-mutations.json` are about, in one payment. It has no
 * finding on 26 November 2026.
 */
export function detailedMessage(version: Version): Node {
  const isDebit = version.startsWith('pain.008');
  const [head = '', first = '', second = ''] = rightMessage(version)
    .replaceAll(/<PmtInf>(?:(?!<PmtInf>).)*PAYMENT-2.*<\/PmtInf>/gs, '')
    .replaceAll('<NbOfTxs>3<', '<NbOfTxs>2<')
    .replaceAll('>1112.35<', '>112.35<')
    .split(/(?=<(?:CdtTrf|DrctDbt)TxInf>)/);
  const tail = second.slice(second.search(/<\/PmtInf>/));
  const other = second.slice(0, second.length - tail.length);
  const bic = version.endsWith('.03') || version.endsWith('.02') ? 'BIC' : 'BICFI';
  const payment = head
    .replace('</PmtMtd>', '</PmtMtd><BtchBookg>true</BtchBookg>')
    .replace(
      '<ChrgBr>',
      `<Ultmt${isDebit ? 'Cdtr' : 'Dbtr'}><Nm>Ink Holding</Nm></Ultmt${isDebit ? 'Cdtr' : 'Dbtr'}><ChrgBr>`,
    )
    .replace(/(?<=<DbtrAcct>.*?<\/Id>)(?=<\/DbtrAcct>)/, '<Ccy>EUR</Ccy>')
    .replace(/(?<=<PstlAdr>)<StrtNm>.*(?=<TwnNm>)/, address)
    .replace(version === 'pain.001.001.03' ? /<PstlAdr>.*<\/PstlAdr>/ : '', '');
  const add = (text: string, number: number) =>
    text
      .replace('<Othr><Id>NOTPROVIDED</Id></Othr>', `<${bic}>PSSTFRPPPAR</${bic}>`)
      .replace(/(?<=<PstlAdr>).*(?=<\/PstlAdr>)/, `${address}<TwnNm>Paris</TwnNm><Ctry>FR</Ctry>`)
      .replace(version === 'pain.001.001.03' ? /<PstlAdr>.*<\/PstlAdr>/ : '', '')
      .replace(
        '<RmtInf>',
        `<Ultmt${isDebit ? 'Dbtr' : 'Cdtr'}><Nm>Paper Holding</Nm></Ultmt${isDebit ? 'Dbtr' : 'Cdtr'}><Purp><Cd>SUPP</Cd></Purp><RmtInf>`,
      )
      .replace('</DtOfSgntr>', number === 2 ? `</DtOfSgntr>${amendment}` : '</DtOfSgntr>')
      .replace(/<Ustrd>.*<\/Ustrd>/, number === 2 && !isDebit ? structured : '$&');
  return parseXml(`${payment}${add(first, 1)}${add(other, 2)}${tail}`);
}

const address = '<StrtNm>Rue de la Plume</StrtNm><BldgNb>3</BldgNb><PstCd>75002</PstCd>';
const amendment = '<AmdmntInd>true</AmdmntInd><AmdmntInfDtls><OrgnlMndtId>EARLIER-2</OrgnlMndtId></AmdmntInfDtls>';
const structured =
  '<Strd><CdtrRefInf><Tp><CdOrPrtry><Cd>SCOR</Cd></CdOrPrtry><Issr>ISO</Issr></Tp><Ref>RF18539007547034</Ref></CdtrRefInf></Strd>';

export function printMessage(document: Node): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n${printXml(document)}\n`;
}
