import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Run } from '../../../src/checkpoints/checkpoint.ts';
import { Progress } from '../../../src/subscriptions/progress.ts';

const at = (offset: number, completed: readonly Run[] = []) => new Progress({ offset, completed });

function takeAll(progress: Progress, offsets: readonly number[]): readonly number[] {
  return offsets.filter((offset) => progress.take(offset));
}

describe('the frontier', () => {
  test('stands where it began until something is read', () => {
    expect(at(7)).toMatchObject({ frontier: 7, completed: [], ahead: 0, runs: 0 });
  });

  test('stops before the lowest unfinished record and leaps once that is finished', () => {
    const progress = at(0);
    takeAll(progress, [0, 1, 2, 3]);
    progress.finish(3);
    progress.finish(1);
    expect(progress).toMatchObject({
      frontier: 0,
      completed: [
        { from: 1, to: 2 },
        { from: 3, to: 4 },
      ],
      runs: 2,
      ahead: 4,
    });
    progress.finish(0);
    expect(progress).toMatchObject({ frontier: 2, completed: [{ from: 3, to: 4 }], runs: 1, ahead: 2 });
    progress.finish(2);
    expect(progress).toMatchObject({ frontier: 4, completed: [], runs: 0, ahead: 0 });
  });

  test('advances over offsets that hold no records', () => {
    const progress = at(0);
    progress.advanceTo(10);
    expect(progress.frontier).toBe(10);
    progress.take(15);
    expect(progress.frontier).toBe(15);
    progress.advanceTo(20);
    progress.finish(15);
    expect(progress.frontier).toBe(20);
  });

  test('does not advance over a record that is taken and not finished', () => {
    const progress = at(0);
    progress.take(3);
    progress.advanceTo(1_000);
    expect(progress).toMatchObject({ frontier: 3, completed: [] });
  });

  test('never moves back', () => {
    const progress = at(10);
    progress.advanceTo(5);
    expect(progress.take(9)).toBe(false);
    progress.finish(9);
    expect(progress.frontier).toBe(10);
  });
});

describe('marks', () => {
  test('count once', () => {
    const progress = at(0);
    takeAll(progress, [0, 1, 2]);
    for (let i = 0; i < 3; i += 1) progress.finish(1);
    expect(progress).toMatchObject({ frontier: 0, runs: 1 });
    progress.finish(0);
    progress.finish(0);
    progress.finish(1);
    expect(progress).toMatchObject({ frontier: 2, runs: 0 });
  });

  test('for what was not taken here are ignored', () => {
    const progress = at(5);
    takeAll(progress, [5, 9]);
    for (const offset of [0, 6, 10, 1_000]) progress.finish(offset);
    expect(progress).toMatchObject({ frontier: 5, completed: [] });
  });

  test('that arrive after the partition was lost change nothing', () => {
    const progress = at(0);
    takeAll(progress, [0, 1]);
    progress.close();
    progress.finish(0);
    progress.advanceTo(50);
    expect(progress.take(2)).toBe(false);
    expect(progress).toMatchObject({ frontier: 0, completed: [], ahead: 2 });
  });
});

describe('a restored progress', () => {
  test('hands out only what was not finished before', () => {
    const progress = at(2, [
      { from: 3, to: 5 },
      { from: 6, to: 7 },
    ]);
    expect(takeAll(progress, [2, 3, 4, 5, 6, 7])).toEqual([2, 5, 7]);
    expect(progress).toMatchObject({
      frontier: 2,
      completed: [
        { from: 3, to: 5 },
        { from: 6, to: 7 },
      ],
    });
  });

  test('keeps what it has not read again yet for the next save', () => {
    const completed = [
      { from: 3, to: 5 },
      { from: 600, to: 700 },
    ];
    const progress = at(2, completed);
    expect(progress.completed).toEqual(completed);
    progress.take(2);
    progress.take(3);
    expect(progress.completed).toEqual(completed);
    progress.finish(2);
    expect(progress).toMatchObject({ frontier: 5, completed: [{ from: 600, to: 700 }] });
  });

  test('leaps over finished stretches once nothing before them is left', () => {
    const progress = at(0, [
      { from: 1, to: 100 },
      { from: 102, to: 200 },
    ]);
    takeAll(progress, [0]);
    progress.finish(0);
    expect(progress.frontier).toBe(100);
    expect(progress.take(50)).toBe(false);
    expect(takeAll(progress, [100, 101])).toEqual([100, 101]);
    progress.finish(101);
    expect(progress.completed).toEqual([{ from: 101, to: 200 }]);
    progress.finish(100);
    expect(progress).toMatchObject({ frontier: 200, completed: [], runs: 0 });
  });

  test('that begins at a finished stretch begins behind it', () => {
    expect(at(5, [{ from: 5, to: 8 }])).toMatchObject({ frontier: 8, completed: [] });
  });

  test('forgets finished stretches that the log no longer holds', () => {
    const progress = at(0, [{ from: 3, to: 5 }]);
    progress.take(0);
    progress.take(9);
    expect(progress.completed).toEqual([]);
    expect(progress.frontier).toBe(0);
  });
});

/** What a residency can meet. Offsets of records come from the log of the run. */
type Step =
  | { readonly kind: 'take'; readonly records: number }
  | { readonly kind: 'finish'; readonly which: number }
  | { readonly kind: 'gap' }
  | { readonly kind: 'restart' };

const steps = fc.array(
  fc.oneof(
    {
      weight: 3,
      arbitrary: fc.record({ kind: fc.constant('take' as const), records: fc.integer({ min: 1, max: 8 }) }),
    },
    { weight: 8, arbitrary: fc.record({ kind: fc.constant('finish' as const), which: fc.nat({ max: 99 }) }) },
    { weight: 1, arbitrary: fc.constant<Step>({ kind: 'gap' }) },
    { weight: 1, arbitrary: fc.constant<Step>({ kind: 'restart' }) },
  ),
  { maxLength: 80 },
);

/** The distances between records: most stand side by side. */
const distances = fc.array(fc.oneof({ weight: 4, arbitrary: fc.constant(1) }, fc.integer({ min: 1, max: 50 })), {
  minLength: 1,
  maxLength: 120,
});

/** The same in the plainest way: sets of offsets. */
class Model {
  readonly log: readonly number[];
  readonly finished = new Set<number>();
  progress: Progress;
  read = 0;
  inHand: number[] = [];
  /** What the progress answered differently from the model. */
  readonly wrongAnswers: string[] = [];

  constructor(start: number, distancesOfLog: readonly number[]) {
    this.progress = at(start);
    let offset = start - 1;
    this.log = distancesOfLog.map((distance) => {
      offset += distance;
      return offset;
    });
  }

  run(step: Step): void {
    switch (step.kind) {
      case 'take':
        for (const offset of this.log.slice(this.read, this.read + step.records)) this.take(offset);
        return;
      case 'finish':
        for (const offset of this.inHand.splice(step.which % Math.max(1, this.inHand.length), 1)) {
          this.progress.finish(offset);
          this.finished.add(offset);
        }
        return;
      case 'gap':
        this.progress.advanceTo(this.log[this.read] ?? 0);
        return;
      case 'restart':
        this.restart();
    }
  }

  take(offset: number): void {
    const isFinished = this.finished.has(offset);
    if (this.progress.isFinished(offset) !== isFinished) this.wrongAnswers.push(`isFinished(${offset})`);
    const isToHandle = this.progress.take(offset);
    if (isToHandle === isFinished) this.wrongAnswers.push(`take(${offset})`);
    if (isToHandle) this.inHand.push(offset);
    this.read += 1;
  }

  restart(): void {
    const { frontier: offset, completed } = this.progress;
    this.progress.close();
    for (const late of this.inHand) this.progress.finish(late);
    this.progress = at(offset, completed);
    this.inHand = [];
    const read = this.log.findIndex((each) => each >= this.progress.frontier);
    this.read = read === -1 ? this.log.length : read;
  }

  /** Whether the frontier stands exactly before the lowest unfinished record that was read, or behind all of them. */
  isFrontierRight(before: number): boolean {
    const { frontier } = this.progress;
    const lowest = this.log.slice(0, this.read).find((offset) => !this.finished.has(offset));
    return (
      frontier >= before && (lowest === undefined ? frontier > (this.log[this.read - 1] ?? -1) : frontier === lowest)
    );
  }

  /** Records that are kept as finished and are not, or the other way round. */
  wronglyKept(): readonly number[] {
    const { frontier, completed } = this.progress;
    const isKept = (offset: number) =>
      offset < frontier || completed.some(({ from, to }) => from <= offset && offset < to);
    return this.log.filter((offset) => isKept(offset) !== this.finished.has(offset));
  }

  /** Runs that are empty, or touch what stands before them. */
  misplacedRuns(): readonly Run[] {
    const { frontier, completed } = this.progress;
    return completed.filter(({ from, to }, i) => to <= from || from <= (completed[i - 1]?.to ?? frontier));
  }
}

test('for any interleaving and any restarts nothing finished is forgotten and nothing unfinished is passed', () => {
  fc.assert(
    fc.property(fc.nat({ max: 5 }), distances, steps, (...[start, distancesOfLog, allSteps]) => {
      const model = new Model(start, distancesOfLog);
      for (const step of allSteps) {
        const before = model.progress.frontier;
        model.run(step);
        expect(model.isFrontierRight(before)).toBe(true);
        expect(model.wronglyKept()).toEqual([]);
        expect(model.misplacedRuns()).toEqual([]);
        expect([0, 1]).toContain(model.progress.runs - model.progress.completed.length);
      }
      // The end of it: whatever is left gets finished, and the frontier stands behind the log.
      model.run({ kind: 'restart' });
      model.run({ kind: 'take', records: model.log.length });
      while (model.inHand.length > 0) model.run({ kind: 'finish', which: 0 });
      expect(model.progress).toMatchObject({ frontier: (model.log.at(-1) ?? 0) + 1, completed: [] });
      expect(model.wrongAnswers).toEqual([]);
    }),
    { numRuns: 300 },
  );
});

test('a long residency with a few records in hand goes on as it began', () => {
  const progress = at(0);
  for (let offset = 0; offset < 1_000; offset += 1) {
    progress.take(offset);
    if (offset % 4 === 3) for (const late of [0, 2, 1, 3]) progress.finish(offset - late);
    expect(progress.frontier).toBe(offset % 4 === 3 ? offset + 1 : offset - (offset % 4));
  }
  expect(progress).toMatchObject({ frontier: 1_000, completed: [], runs: 0, ahead: 0 });
  for (const offset of [1_000, 1_001, 1_002]) progress.take(offset);
  progress.finish(1_001);
  expect(progress).toMatchObject({ frontier: 1_000, completed: [{ from: 1_001, to: 1_002 }], runs: 1, ahead: 3 });
});

test('a hundred thousand marks from the back to the front end at the front', () => {
  const progress = at(0);
  for (let offset = 0; offset < 100_000; offset += 1) progress.take(offset);
  for (let offset = 99_999; offset > 0; offset -= 1) progress.finish(offset);
  expect(progress).toMatchObject({ frontier: 0, runs: 1, completed: [{ from: 1, to: 100_000 }] });
  progress.finish(0);
  expect(progress).toMatchObject({ frontier: 100_000, runs: 0, ahead: 0 });
});
