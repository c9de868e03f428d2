import CliTable from 'cli-table3';
import { toJson } from './terminal.ts';

/** Longer cells are cut: a table is for people, `--json` for programs. */
const CELL_MAX = 60;

/** A table without colours, which reads the same on a terminal and in a file. */
export function formatTable(head: readonly string[], rows: readonly (readonly unknown[])[]): string {
  const table = new CliTable({ head: [...head], style: { head: [], border: [], compact: true } });
  for (const row of rows) table.push(row.map(formatCell));
  return table.toString();
}

function formatCell(value: unknown): string {
  if (value === undefined || value === null) return '';
  const text = typeof value === 'string' ? value : toJson(value);
  // Control characters of data must not reach a terminal.
  const plain = text.replaceAll(/\p{Cc}/gu, ' ');
  return plain.length > CELL_MAX ? `${plain.slice(0, CELL_MAX - 1)}…` : plain;
}
