import type { CommitBatch, CommitResult, ReadModelStore } from '../../../src/read-models/read-model-store.ts';
import type { Stores } from '../../../src/subscriptions/stores.ts';
import type { World } from '../../../src/testing/world/world.ts';

export type RecordedCommit = { readonly batch: CommitBatch; readonly sentAtMs: number; result?: CommitResult };

export type RecordingOptions = {
  /** How long an answer takes. */
  readonly delayMs?: number;
  /** In place of the store: what a commit comes to, or `undefined` to let it through. */
  readonly instead?: (batch: CommitBatch, number: number) => Promise<CommitResult> | undefined;
};

/** The world's stores, with every commit noted, answered as late as a test wants. */
export class RecordingStore {
  readonly commits: RecordedCommit[] = [];
  readonly stores: Stores;
  /** The most that were on the wire at once. */
  onWireMax = 0;
  #onWire = 0;

  constructor(world: World, { delayMs = 0, instead }: RecordingOptions = {}) {
    const inner = world.stores.readModels;
    const commit = async (batch: CommitBatch): Promise<CommitResult> => {
      const recorded: RecordedCommit = { batch, sentAtMs: world.clock.monotonicMs() };
      this.commits.push(recorded);
      this.#onWire += 1;
      this.onWireMax = Math.max(this.onWireMax, this.#onWire);
      try {
        if (delayMs > 0) await world.clock.sleep(delayMs);
        recorded.result = await (instead?.(batch, this.commits.length) ?? inner.commit(batch));
        return recorded.result;
      } finally {
        this.#onWire -= 1;
      }
    };
    const readModels: ReadModelStore = {
      commit,
      prepare: (scope, model) => inner.prepare(scope, model),
      readRow: (model, id) => inner.readRow(model, id),
      readRows: (model, page) => inner.readRows(model, page),
      listModels: () => inner.listModels(),
    };
    this.stores = { ...world.stores, readModels };
  }

  /** Where each commit moves its checkpoint to. */
  get offsets(): readonly (number | undefined)[] {
    return this.commits.map(({ batch }) => batch.advances[0]?.offset);
  }
}
