import { inflateRawSync } from 'node:zlib';
import { parse } from 'csv-parse/sync';

/** Reads CSV as RFC 4180 has it, strictly: a stray quote or a bare line break is an error. */
export function readCsv(text: string, separator: string): string[][] {
  if (!text.endsWith('\r\n')) throw new Error('the last line has no end');
  return parse(text, {
    delimiter: separator,
    record_delimiter: '\r\n',
    cast(cell, { quoting }) {
      if (!quoting && /[\r\n]/.test(cell)) throw new Error('a line break without quotes');
      return cell;
    },
  });
}

/** A cell as a spreadsheet would see it; `style` is its index in the cell formats. */
export interface ReadCell {
  readonly type: 'number' | 'text' | 'boolean';
  readonly value: string;
  readonly style: number;
}

export interface ReadSheet {
  readonly name: string;
  readonly xml: string;
  /** Rows from 1 (index 0), each from column A; null where there is no cell. */
  readonly rows: readonly (readonly (ReadCell | null)[])[];
}

/** Reads the entries of a zip archive by its central directory. */
export function unzip(archive: Buffer): Map<string, Buffer> {
  const end = archive.lastIndexOf(Buffer.from('PK\u0005\u0006', 'latin1'));
  if (end === -1) throw new Error('not a zip archive');
  const entries = new Map<string, Buffer>();
  let at = archive.readUInt32LE(end + 16);
  for (let left = archive.readUInt16LE(end + 10); left > 0; left -= 1) {
    const size = archive.readUInt32LE(at + 20);
    const nameLength = archive.readUInt16LE(at + 28);
    const name = archive.toString('utf8', at + 46, at + 46 + nameLength);
    const local = archive.readUInt32LE(at + 42);
    const dataAt = local + 30 + archive.readUInt16LE(local + 26) + archive.readUInt16LE(local + 28);
    entries.set(name, inflateRawSync(archive.subarray(dataAt, dataAt + size)));
    at += 46 + nameLength + archive.readUInt16LE(at + 30) + archive.readUInt16LE(at + 32);
  }
  return entries;
}

export function readWorkbook(archive: Buffer): ReadSheet[] {
  const entries = unzip(archive);
  const part = (name: string) => {
    const bytes = entries.get(name);
    if (bytes === undefined) throw new Error(`the workbook has no ${name}`);
    const xml = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    requireWellFormed(xml);
    return xml;
  };
  part('[Content_Types].xml');
  part('_rels/.rels');
  part('xl/styles.xml');
  const targets = new Map(
    [
      ...part('xl/_rels/workbook.xml.rels').matchAll(/Id="(\w+)" Type="[^"]*" Target="([^"]+)"/g),
    ].map(([, id, target]) => [id, `xl/${target}`]),
  );
  const sheets = part('xl/workbook.xml').matchAll(
    /<sheet name="([^"]+)" sheetId="\d+" r:id="(\w+)"/g,
  );
  return [...sheets].map(([, name = '', id]) => {
    const xml = part(targets.get(id) ?? 'a sheet without a part');
    return { name, xml, rows: readRows(xml) };
  });
}

const ROW = /<row r="(\d+)">(.*?)<\/row>/gs;
const CELL = /<c r="([A-Z]+)(\d+)"(?: t="(\w+)")?(?: s="(\d+)")?>(.*?)<\/c>/gs;

function readRows(xml: string): (ReadCell | null)[][] {
  return Array.from(xml.matchAll(ROW), ([, number, content = ''], index) => {
    if (Number(number) !== index + 1) throw new Error(`row ${number} is at place ${index + 1}`);
    const cells: (ReadCell | null)[] = [];
    for (const [, letters = '', row, type, style = '0', body = ''] of content.matchAll(CELL)) {
      if (row !== number) throw new Error(`a cell of row ${row} is in row ${number}`);
      const column = [...letters].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0);
      while (cells.length < column - 1) cells.push(null);
      cells[column - 1] = readCell(type, body, Number(style));
    }
    return cells;
  });
}

function readCell(type: string | undefined, body: string, style: number): ReadCell {
  if (type === 'inlineStr') {
    const text = /^<is><t(?: xml:space="preserve")?>(.*)<\/t><\/is>$/s.exec(body)?.[1];
    if (text === undefined) throw new Error(`not an inline string: ${body}`);
    return { type: 'text', value: decodeText(text), style };
  }
  const value = /^<v>([^<]*)<\/v>$/.exec(body)?.[1];
  if (value === undefined) throw new Error(`not a value: ${body}`);
  return { type: type === 'b' ? 'boolean' : 'number', value, style };
}

/** First as XML does, then as Excel does. */
function decodeText(text: string): string {
  return text
    .replace(/&(amp|lt|gt);/g, (_, name: string) => ({ amp: '&', lt: '<', gt: '>' })[name] ?? '')
    .replace(/_x([0-9A-Fa-f]{4})_/g, (_, code: string) => String.fromCharCode(parseInt(code, 16)));
}

/** Tags nest, markup is escaped, and no character is outside XML 1.0. */
function requireWellFormed(xml: string): void {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the characters that XML does not have
  if (/[\u0000-\u0008\u000B-\u001F\uFFFE\uFFFF]/.test(xml)) throw new Error('not an XML character');
  const open: string[] = [];
  const body = xml.replace(/^<\?xml [^>]*\?>\n/, '');
  const markup = /<(\/?)([\w:]+)((?: [\w:]+="[^"<&]*")*)(\/?)>|[^<>&]+|&(?:amp|lt|gt);/gy;
  for (let match = markup.exec(body); match !== null; match = markup.exec(body)) {
    const [, closing, name, , empty] = match;
    if (name !== undefined && closing === '/' && open.pop() !== name)
      throw new Error(`stray </${name}>`);
    if (name !== undefined && closing === '' && empty === '') open.push(name);
    if (markup.lastIndex === body.length) {
      if (open.length > 0) throw new Error(`<${open.join('>, <')}> without an end`);
      return;
    }
  }
  throw new Error('not XML');
}
