import fc from 'fast-check';
import type { RefKey } from '../../src/log/ref.ts';
import type { HandledCommit, HandlerCall } from '../../src/read-models/handled-commit.ts';
import { handlerCall } from '../../src/read-models/handler-call.ts';
import type { ModelShape } from '../../src/read-models/model-shape.ts';
import { readModel } from '../../src/read-models/read-model.ts';
import type { Write } from '../../src/read-models/write.ts';

type Row = Readonly<Record<string, unknown>>;
type Sums = Readonly<Record<string, number>>;

export const plain = readModel<Row>('plain');
export const moving = readModel<Row>('moving', { moves: true });
export const joined = readModel<Row>('joined', { kind: 'joined', primary: { name: 'eshop.order' } });
export const contributed = readModel<Sums>('contributed', { kind: 'totals' });
export const added = readModel<Sums>('added', { kind: 'totals' });

/** A read model of every kind; a totals model per kind of write. */
export const modelOfKind = { plain, moving, joined, contributed, added };
export type ModelName = keyof typeof modelOfKind;

export function refKey(text: string): RefKey {
  return text as RefKey;
}

export type CommitOf = {
  readonly ref: string;
  readonly version: number;
  /** A call per element, at these event indices from 0; none: nobody wanted the commit. */
  readonly calls?: readonly (Write | readonly Write[] | undefined)[];
  readonly bytes?: number;
};

/** A handled commit; its ref starts with `context.aggregate`. */
export function commitOf({ ref, version, calls = [], bytes = 100 }: CommitOf): HandledCommit {
  const shapes = Object.values(modelOfKind).map(({ shape }) => shape);
  return {
    ref: refKey(ref),
    aggregate: ref.slice(0, ref.indexOf('/')),
    version,
    calls: calls.map((result, eventIndex) => handlerCall(eventIndex, result, shapes)),
    bytes,
  };
}

export type History = {
  readonly models: readonly ModelShape[];
  /** As delivered: in any order, some more than once, some versions never. */
  readonly commits: readonly HandledCommit[];
};

const refs = ['eshop.order/t/1', 'eshop.order/t/2', 'eshop.payment/t/1', 'eshop.payment/t/2'].map(refKey);
// Data that would mean something if it were taken for more than text.
const fieldNames = ['a', 'b.c', '$set', '__proto__'];
const amounts = [-2, -0.1, 0, 0.1, 0.25, 3, 1_000_000];

/** A history of several aggregates in which none gets into another's way. */
export function history(names: readonly ModelName[]): fc.Arbitrary<History> {
  const commits = refs.flatMap((ref) => [1, 2, 3, 4, 5].map((version) => handledCommit({ ref, version, names })));
  return fc
    .tuple(...commits)
    .chain((all) =>
      fc.tuple(fc.shuffledSubarray(all, { minLength: 8 }), fc.array(fc.nat({ max: 99 }), { maxLength: 6 })),
    )
    .map(([delivered, repeats]) => ({
      models: names.map((name) => modelOfKind[name].shape),
      commits: [...delivered, ...repeats.flatMap((nth) => delivered[nth % delivered.length] ?? [])],
    }));
}

type Place = { readonly ref: RefKey; readonly version: number; readonly names: readonly ModelName[] };

function handledCommit({ ref, version, names }: Place): fc.Arbitrary<HandledCommit> {
  const aggregate = ref.slice(0, ref.indexOf('/'));
  return fc
    .array(handlerResult(ref, names), { maxLength: 3 })
    .map((results) => ({ ref, aggregate, version, calls: results.map(callOf(names)), bytes: 100 }));
}

function callOf(names: readonly ModelName[]): (writes: readonly Write[], eventIndex: number) => HandlerCall {
  const shapes = names.map((name) => modelOfKind[name].shape);
  return (writes, eventIndex) => handlerCall(eventIndex, writes, shapes);
}

function handlerResult(ref: RefKey, names: readonly ModelName[]): fc.Arbitrary<readonly Write[]> {
  return fc.tuple(...names.map((name) => writesOf(name, ref))).map((perModel) => perModel.flat());
}

function writesOf(name: ModelName, ref: RefKey): fc.Arbitrary<readonly Write[]> {
  const id = fc.constantFrom('0', '1', '__proto__');
  const ids = fc.uniqueArray(id, { maxLength: 2 });
  const isPut = fc.boolean();
  const fields = rowFields(ref);
  const sums = fc.dictionary(fc.constantFrom(...fieldNames), fc.constantFrom(...amounts), { maxKeys: 3 });
  const each = (write: fc.Arbitrary<(id: string) => Write>): fc.Arbitrary<readonly Write[]> =>
    ids.chain((own) => fc.tuple(...own.map((one) => write.map((make) => make(one)))));
  switch (name) {
    case 'plain':
      return each(
        fc.tuple(isPut, fields).map(
          ([put, row]) =>
            (own) =>
              put ? plain.put([ref, own], row) : plain.remove([ref, own]),
        ),
      );
    case 'moving':
      return each(fields.map((row) => (own) => moving.put([ref, own], row)));
    case 'joined':
      // The id that a payment shares with its order.
      return each(
        fc.tuple(isPut, fields).map(
          ([put, part]) =>
            (own) =>
              put ? joined.part([ref.slice(-1), own], part) : joined.remove([ref.slice(-1), own]),
        ),
      );
    case 'contributed':
      return each(sums.map((sum) => (own) => contributed.contribute(own, sum)));
    case 'added':
      return each(sums.map((sum) => (own) => added.add(own, sum)));
  }
}

/** Disjoint for the two aggregates of a join. */
function rowFields(ref: RefKey): fc.Arbitrary<Row> {
  const own = ref.startsWith('eshop.order') ? fieldNames : fieldNames.map((name) => `paid ${name}`);
  return fc.dictionary(fc.constantFrom(...own), fc.nat({ max: 3 }), { maxKeys: 3 });
}
