/** The bound: reads every record of the file in order and parses its JSON, nothing else. Prints one line of JSON. */

import { argv, stdout } from 'node:process';
import { DatabaseSync } from 'node:sqlite';

const PAGE = 1_000;
const database = new DatabaseSync(argv[2] ?? '', { readOnly: true });
const page = database.prepare('SELECT id, value FROM tm_record WHERE id > ? ORDER BY id LIMIT ?');
page.setReturnArrays(true);

const startedMs = performance.now();
let records = 0;
let versions = 0;
for (let after = -1; ; ) {
  // With arrays asked for, each row is one; the declared type does not know of them.
  const rows = page.all(after, PAGE) as unknown as readonly (readonly [number, string])[];
  const last = rows.at(-1);
  if (last === undefined) break;
  for (const [, value] of rows) versions += (JSON.parse(value) as { version: number }).version;
  records += rows.length;
  [after] = last;
}
const ms = performance.now() - startedMs;
stdout.write(`${JSON.stringify({ ms, records, versions, rssMb: process.resourceUsage().maxRSS / 1024 })}\n`);
