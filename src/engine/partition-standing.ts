import type { Checkpoint } from '../checkpoints/checkpoint.ts';
import type { TopicPartition } from '../log/position.ts';
import type { UnavailableError } from '../runtime/errors.ts';
import type { Logger } from '../runtime/logger.ts';
import type { PartitionState, PartitionStatus } from '../subscriptions/status.ts';
import type { ParkedSequences } from './parked-sequences.ts';
import type { PartitionReader } from './partition-reader.ts';

export type PartitionStandingOptions = {
  readonly partition: TopicPartition;
  readonly logger: Logger;
  /** Told after each change of status. */
  readonly onChange: () => void;
};

const levels = {
  starting: 'info',
  following: 'info',
  waiting: 'warn',
  fenced: 'warn',
  gap: 'error',
  stopped: 'error',
} as const satisfies Record<PartitionState, keyof Logger>;

/** Where a run of a partition stands, as others see it. */
export class PartitionStanding {
  readonly #options: PartitionStandingOptions;
  #state: PartitionState = 'starting';
  #reason: string | undefined;
  #position = 0;
  #end = 0;
  #epoch = 0;
  #origin = '';
  #taken = 0;
  #reader: PartitionReader | undefined;
  #parked: ParkedSequences | undefined;

  constructor(options: PartitionStandingOptions) {
    this.#options = options;
  }

  get status(): PartitionStatus {
    return {
      ...this.#options.partition,
      state: this.#state,
      reason: this.#reason,
      offset: this.#position,
      end: Math.max(this.#end, this.#reader?.end ?? 0),
      epoch: this.#epoch,
      origin: this.#origin,
      parked: this.#parked?.entries ?? 0,
    };
  }

  /** Records taken from the log. */
  get taken(): number {
    return this.#taken;
  }

  /** Everything below is done or parked. */
  get position(): number {
    return this.#position;
  }

  /** Whether the log has answered the present run. */
  get hasAnswer(): boolean {
    return this.#reader?.hasAnswer === true;
  }

  /** Whether everything below `offset` is done or parked, with no first retry about to come. */
  hasPassed(offset: number): boolean {
    const isAtWork = this.#epoch > 0 && this.hasAnswer;
    return isAtWork && this.#position >= offset && this.#parked?.hasFirstRetryAhead === false;
  }

  /** The log's bounds of the partition were read. */
  found({ low, end }: { readonly low: number; readonly end: number }): void {
    if (this.#epoch === 0) this.#position = low;
    this.#end = end;
  }

  claimed({ epoch, origin, offset }: Checkpoint): void {
    this.#epoch = epoch;
    this.#origin = origin;
    this.#position = offset;
  }

  /** A run starts: its state is told once the log has answered. */
  running(reader: PartitionReader, parked: ParkedSequences): void {
    this.#reader = reader;
    this.#parked = parked;
  }

  progressed(position: number, taken: number): void {
    this.#position = position;
    this.#taken += taken;
    if (this.hasAnswer) this.show('following');
    else this.#options.onChange();
  }

  /** The store or the log cannot be reached; `undefined`: it answers again. */
  waiting(error: UnavailableError | undefined): void {
    if (error === undefined) {
      if (this.#state === 'waiting' && this.hasAnswer) this.show('following');
    } else if (this.#state !== 'waiting') {
      this.show('waiting', error.message);
    }
  }

  /** Changes the state; the log tells of it once. */
  show(state: PartitionState, reason?: string): void {
    const { logger, partition, onChange } = this.#options;
    const isNew = state !== this.#state;
    this.#state = state;
    this.#reason = reason;
    if (isNew) {
      const fields = { ...partition, state, ...(reason === undefined ? {} : { reason }), offset: this.#position };
      const level = levels[state];
      logger[level]('A partition changed its state.', fields);
    }
    onChange();
  }
}
