import type { TopicPartition } from '../log/position.ts';

/** A subscription in one of its generations. Generation numbers start at 1 and are never used again. */
export type Scope = { readonly subscription: string; readonly generation: number };

/**
 * What an owner shows with each write: refused unless the stored checkpoint stands at exactly this epoch and sequence.
 * The epoch rises with every claim and every reset; each accepted write raises the sequence by one.
 */
export type Fence = TopicPartition & { readonly scope: Scope; readonly epoch: number; readonly sequence: number };
