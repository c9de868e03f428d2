import { AssertionError, deepStrictEqual } from 'node:assert/strict';
import { inspect } from 'node:util';
import type { ListedEntry } from '../failures/failure-ledger.ts';
import type { CommitRecord } from '../log/commit-record.ts';
import type { Projection } from '../projections/projection.ts';
import { canonicalRow } from '../read-models/canonical-row.ts';
import type { ReadModel, RowIdParts } from '../read-models/read-model.ts';
import type { ReadRow } from '../read-models/read-model-store.ts';
import { rowId } from '../read-models/row-id.ts';
import { type Delivery, deliveriesOf } from './delivery.ts';
import { type ProjectionRun, runProjection } from './projection-run.ts';
import { seededRandom } from './seeded-random.ts';

export type ProjectionSpecOptions = Delivery & {
  /** Decides what `late` and `shuffled` choose, and how many commits are handled at once. Default 1. */
  readonly seed?: number;
};

/** A projection under test, with the commits it is given. */
export type ProjectionSpec = {
  /** Adds commits, in the order in which they were committed. */
  whenCommit(...commits: readonly CommitRecord[]): ProjectionSpec;
  /**
   * Rejects with an assertion error if a commit was parked (it names cause and position), if a handler returned something
   * else when called again for the same commit, or if a row id that must be a function of the ref changed.
   */
  expectNoError(): Promise<void>;
  /**
   * Rejects with an assertion error unless readers of `model` see exactly these rows: a list, in any order, or a map from
   * ids to rows.
   */
  expectRows(model: ReadModel, rows: readonly object[] | ReadonlyMap<RowIdParts, object>): Promise<void>;
  /** What readers of `model` see, ordered by id. */
  rows(model: ReadModel): Promise<readonly ReadRow[]>;
};

/**
 * Tests a projection on the whole way from a log to its rows, in memory: with the codec, the engine and the guards that
 * run it in production. Each expectation looks at a log that holds the commits given so far; deliver them twice, late or
 * shuffled, and the same rows must come out.
 *
 * Definition errors of the projection reject the expectation (`DEFINITION_INVALID`).
 */
export function projectionSpec(projection: Projection, options: ProjectionSpecOptions = {}): ProjectionSpec {
  const commits: CommitRecord[] = [];
  let running: Promise<ProjectionRun> | undefined;
  const run = (): Promise<ProjectionRun> => {
    const random = seededRandom(options.seed ?? 1);
    running ??= runProjection(projection, deliveriesOf(commits, options, random), random);
    return running;
  };
  const spec: ProjectionSpec = {
    whenCommit: (...more) => {
      commits.push(...more);
      running = undefined;
      return spec;
    },
    expectNoError: async () => expectNoError(await run()),
    expectRows: async (model, rows) => {
      const { rows: all, parked } = await run();
      expectRows(rowsOf(all, model), rows, { model, parked });
    },
    rows: async (model) => rowsOf((await run()).rows, model),
  };
  return spec;
}

function rowsOf(rows: ProjectionRun['rows'], { shape }: ReadModel): readonly ReadRow[] {
  const own = rows.get(shape.name);
  if (own !== undefined) return own;
  throw new AssertionError({ message: `The projection does not write the read model ${shape.name}.` });
}

function expectNoError({ parked, problems }: ProjectionRun): void {
  if (parked.length === 0 && problems.length === 0) return;
  const lines = [...problems, ...parked.map(describe)];
  throw new AssertionError({
    message: `Expected no error, but there ${lines.length === 1 ? 'was one' : `were ${lines.length}`}:\n- ${lines.join('\n- ')}`,
    actual: lines,
    expected: [],
    operator: 'expectNoError',
  });
}

function describe({ scope, ref, version, position, failure }: ListedEntry): string {
  const { topic, partition, offset } = position;
  const what = ref === undefined ? 'an undecodable record' : `version ${version} of ${ref}`;
  const where = `${topic}, partition ${partition}, offset ${offset}`;
  if (failure === undefined) return `${scope.subscription} parked ${what} (${where}) behind an earlier failure`;
  const { name, code, message, causes } = failure.cause;
  const chain = causes.map((cause) => `, caused by ${cause.name}: ${cause.message}`).join('');
  return `${scope.subscription} parked ${what} (${where}): ${name} ${code}: ${message}${chain}`;
}

function expectRows(
  actual: readonly ReadRow[],
  expected: readonly object[] | ReadonlyMap<RowIdParts, object>,
  { model, parked }: { readonly model: ReadModel; readonly parked: readonly ListedEntry[] },
): void {
  const [found, wanted] =
    expected instanceof Map
      ? [
          Object.fromEntries(actual.map(({ id, row }) => [id, row])),
          Object.fromEntries(byText([...expected].map(([id, row]) => [rowId(id), canonicalRow(row)] as const))),
        ]
      : [byText(actual.map(({ row }) => row)), byText([...expected.values()].map((row) => canonicalRow(row)))];
  try {
    deepStrictEqual(found, wanted);
  } catch (error) {
    if (!(error instanceof AssertionError)) throw error;
    throw new AssertionError({
      message: [`The rows of ${model.shape.name} are not those expected.`, ...parked.map(describe), error.message].join(
        '\n',
      ),
      actual: found,
      expected: wanted,
      operator: 'expectRows',
    });
  }
}

/** An order that depends on content alone, so that two lists of the same rows are equal. */
function byText<Value>(values: readonly Value[]): readonly Value[] {
  const text = (value: Value): string =>
    inspect(value, { sorted: true, depth: Number.POSITIVE_INFINITY, maxArrayLength: null, maxStringLength: null });
  return values
    .map((value) => ({ value, text: text(value) }))
    .toSorted((a, b) => (a.text < b.text ? -1 : 1))
    .map(({ value }) => value);
}
