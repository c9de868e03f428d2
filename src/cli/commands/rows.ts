import { nearestName } from '../../config/nearest-name.ts';
import type { ReadModelStore, ReadRow } from '../../read-models/read-model-store.ts';
import { rowId } from '../../read-models/row-id.ts';
import { TidemarkError } from '../../runtime/errors.ts';
import { type CommandContext, type ConfigOptions, loadCommandConfig } from '../command-context.ts';
import { composeLogger, composeRuntime, openForReading } from '../compose.ts';
import { type ExitCode, exitCodes } from '../exit-code.ts';
import { formatTable } from '../screen/table.ts';
import { toJson } from '../screen/terminal.ts';

export type RowsOptions = ConfigOptions & { readonly json?: boolean; readonly limit?: number };

/** What to print: all rows of a model, or one by its id (in parts, or as it was printed). */
export type RowsTarget = { readonly model: string; readonly id: readonly string[] };

/** The store has no read model of this name. */
class ModelUnknownError extends TidemarkError {
  readonly code = 'MODEL_UNKNOWN';
}

const PAGE_SIZE = 1_000;
/** Rows of a table, which is held in memory. JSON lines stream without a bound. */
const TABLE_ROWS = 100;

/** `rows`: what readers see of a read model. */
export async function rows(context: CommandContext, target: RowsTarget, options: RowsOptions): Promise<ExitCode> {
  const { values } = await loadCommandConfig(context, options);
  await using opened = await openForReading(values, composeRuntime(composeLogger(values, context.terminal)));
  const { readModels } = opened.stores;
  await assertModel(readModels, target.model);
  return target.id.length > 0
    ? await printOne(context, { ...target, store: readModels }, options)
    : await printAll(context, { ...target, store: readModels }, options);
}

type Source = RowsTarget & { readonly store: ReadModelStore };

async function assertModel(store: ReadModelStore, model: string): Promise<void> {
  const known = await store.listModels();
  if (known.includes(model)) return;
  const nearest = nearestName(model, known);
  throw new ModelUnknownError(`There is no read model '${model}'`, {
    details: { model, known },
    hint:
      known.length === 0
        ? 'The store has none yet: run the worker first.'
        : nearest === undefined
          ? `There are: ${known.join(', ')}.`
          : `Did you mean ${nearest}?`,
  });
}

async function printOne(
  context: CommandContext,
  { store, model, id }: Source,
  options: RowsOptions,
): Promise<ExitCode> {
  const [only = ''] = id;
  const key = id.length === 1 ? only : rowId(id);
  const row = await store.readRow(model, key);
  if (row === undefined) {
    context.terminal.writeError(`There is no row ${key} in ${model}.\n`);
    return exitCodes.found;
  }
  if (options.json === true) await context.terminal.writeJson(toObject({ id: key, row }));
  else await context.terminal.writeLine(formatTable(['field', 'value'], Object.entries(toObject({ id: key, row }))));
  return exitCodes.done;
}

async function printAll(context: CommandContext, { store, model }: Source, options: RowsOptions): Promise<ExitCode> {
  const { terminal, signal } = context;
  const limit = options.limit ?? (options.json === true ? Number.POSITIVE_INFINITY : TABLE_ROWS);
  const shown: Readonly<Record<string, unknown>>[] = [];
  let printed = 0;
  let afterId: string | undefined;
  while (printed < limit && !signal.aborted && !terminal.closed.aborted) {
    const page = await store.readRows(model, { afterId, limit: Math.min(PAGE_SIZE, limit - printed) });
    if (options.json === true) await terminal.write(page.map((row) => `${toJson(toObject(row))}\n`).join(''));
    else shown.push(...page.map(toObject));
    printed += page.length;
    afterId = page.at(-1)?.id;
    if (afterId === undefined) break;
  }
  if (options.json !== true) await terminal.writeLine(formatRows(shown));
  // Not all of them, though nobody said when to stop.
  return signal.aborted ? exitCodes.found : exitCodes.done;
}

/** A row as one object; its id stands before the fields as `_id`, in place of a field of that name. */
function toObject({ id, row }: ReadRow): Readonly<Record<string, unknown>> {
  return Object.fromEntries([['_id', id], ...Object.entries(row).filter(([field]) => field !== '_id')]);
}

function formatRows(objects: readonly Readonly<Record<string, unknown>>[]): string {
  const fields = [...new Set(objects.flatMap((object) => Object.keys(object)))];
  if (fields.length === 0) return 'No rows.';
  return formatTable(
    fields,
    objects.map((object) => fields.map((field) => (Object.hasOwn(object, field) ? object[field] : undefined))),
  );
}
