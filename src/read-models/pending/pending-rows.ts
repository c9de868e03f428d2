import type { HandledCommit } from '../handled-commit.ts';
import type { Write } from '../write.ts';
import type { PendingRow, RowWrite } from './pending-aggregate.ts';

/** The rows of a window that are guarded by themselves; of a `joined` one each aggregate name has its own. */
export class PendingRows {
  readonly #byModel = new Map<string, Map<string, PendingRow>>();

  /**
   * The rows that the commit's writes meet here, a place per write in order, `undefined` where the window has none yet.
   * `undefined` for all: another aggregate writes one of them. Looking up is most of what a commit costs here, so that it
   * is done once.
   */
  met({ ref, aggregate, calls }: HandledCommit): readonly (PendingRow | undefined)[] | undefined {
    const rows: (PendingRow | undefined)[] = [];
    for (const { writes } of calls) {
      for (const write of writes) {
        const row = isRowWrite(write) ? this.find(write, aggregate) : undefined;
        if (row !== undefined && row.ref !== ref) return undefined;
        rows.push(row);
      }
    }
    return rows;
  }

  find({ model, id }: RowWrite, aggregate: string): PendingRow | undefined {
    return this.#byModel.get(groupOf(model, aggregate))?.get(id);
  }

  add(row: PendingRow): void {
    const group = groupOf(row.model, row.aggregate);
    let rows = this.#byModel.get(group);
    if (rows === undefined) {
      rows = new Map();
      this.#byModel.set(group, rows);
    }
    rows.set(row.id, row);
  }
}

/** Whether the row of a write keeps its guard. */
export function isRowWrite(write: Write): write is RowWrite {
  return write.model.kind === 'rows' || write.model.kind === 'joined';
}

function groupOf({ kind, name }: RowWrite['model'], aggregate: string): string {
  return kind === 'joined' ? `${name}/${aggregate}` : name;
}
