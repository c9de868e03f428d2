import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LogRecord } from '../../src/log/record.ts';

/** A genuine record whose key and value are text. */
export type GoldenRecord = LogRecord & { readonly key: string; readonly value: string };

const folder = join(import.meta.dirname, '../golden/wow');

/** The records of `test/golden/wow`, event topics first, as the log would give them. */
export function goldenRecords(): readonly GoldenRecord[] {
  return ['event.jsonl', 'state.jsonl']
    .flatMap((file) => readFileSync(join(folder, file), 'utf8').trim().split('\n'))
    .map((line) => JSON.parse(line) as GoldenRecord);
}
