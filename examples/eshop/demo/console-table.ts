type Cell = string | number;

/** Columns under their titles, numbers to the right; indented by two. */
export function formatTable(titles: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const texts = [titles, ...rows.map((row) => row.map(textOf))];
  const widths = titles.map((_, column) => Math.max(...texts.map((row) => row[column]?.length ?? 0)));
  const isNumeric = titles.map((_, column) => rows.some((row) => isNumber(row[column])));
  const rule = widths.map((width) => '─'.repeat(width));
  const [head = [], ...body] = texts;
  return [head, rule, ...body]
    .map((row) =>
      row.map((text, column) =>
        isNumeric[column] === true ? text.padStart(widths[column] ?? 0) : text.padEnd(widths[column] ?? 0),
      ),
    )
    .map((row) => `  ${row.join('  ')}`.trimEnd())
    .join('\n');
}

/** `12,345`. */
export function formatCount(count: number): string {
  return count.toLocaleString('en-US');
}

/** Numbers, and texts that show one. */
function isNumber(cell: Cell | undefined): boolean {
  return typeof cell === 'number' || (cell !== undefined && /^\d+(\.\d+)?$/.test(cell));
}

function textOf(cell: Cell): string {
  return String(cell);
}
