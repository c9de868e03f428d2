import type { Position } from '../position.ts';
import type { TopicOf } from './appendable.ts';

export type AppendProgress = {
  /** Lines of the input that are dealt with; blank ones count. */
  readonly lines: number;
  readonly appended: number;
  /** Commits that were in the log already, as far as the log can tell. */
  readonly repeated: number;
};

export type AppendResult = AppendProgress & {
  /** Of the last line's record; `undefined` if there was none. */
  readonly last: Position | undefined;
};

export type AppendOptions = {
  /** Mirrors a foreign log: gaps, repeats, undecodable values and tombstones are stored as they are. Default false. */
  readonly asIs?: boolean;
  readonly topicOf?: TopicOf;
  /** Told after each piece. */
  readonly onProgress?: (progress: AppendProgress) => void;
  /** Stops after the piece at hand; the result says how far it came. */
  readonly signal?: AbortSignal;
};

/** An input of up to so many lines and units of text is read whole before anything of it is stored. */
export const wholeInputMax = { lines: 10_000, units: 256 * 1024 * 1024 } as const;
