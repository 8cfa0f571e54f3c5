/** Reads csv as RFC 4180 has it, strictly: a stray quote or a bare line break is an error. */
export function readCsv(text: string, separator: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  let at = 0;
  while (at < text.length) {
    let cell = '';
    if (text[at] === '"') {
      for (at += 1; ; at += 1) {
        if (at >= text.length) throw new Error('a quoted cell has no end');
        if (text[at] !== '"') cell += text[at];
        else if (text[at + 1] === '"') {
          cell += '"';
          at += 1;
        } else break;
      }
      at += 1;
    } else {
      const end = text.slice(at).search(new RegExp(`[${separator}\r\n"]`));
      cell = text.slice(at, at + end);
      at += end;
    }
    row.push(cell);
    if (text[at] === separator) at += 1;
    else if (text.startsWith('\r\n', at)) {
      rows.push(row);
      row = [];
      at += 2;
    } else throw new Error(`unexpected ${JSON.stringify(text[at])} at ${at}`);
  }
  if (row.length > 0) throw new Error('the last line has no end');
  return rows;
}
