export { type AggregateOptions, aggregate, type EventAggregate, type StateAggregate } from './aggregates/aggregate.ts';
export type {
  CommitFields,
  EventOf,
  EventScope,
  StateEvent,
  StateTypedEvent,
  TypedEvent,
} from './aggregates/event.ts';
export type { Handler, HandlerOptions } from './aggregates/handler.ts';
export type { CheckpointStore } from './checkpoints/checkpoint-store.ts';
export { Engine, type EngineOptions } from './engine/engine.ts';
export type { FailureCause } from './failures/failure.ts';
export type { FailureLedger, ListedEntry } from './failures/failure-ledger.ts';
export type { CommitRecord, EventRecord, ReservationsRecord } from './log/commit-record.ts';
export { IllFormedTextError } from './log/identity-part.ts';
export type { LogSource } from './log/log-source.ts';
export type { Position, TopicPartition } from './log/position.ts';
export { parseRef, type Ref, type RefKey, RefMalformedError, refOf } from './log/ref.ts';
export {
  into,
  type Projection,
  type ProjectionFunction,
  projection,
} from './projections/projection.ts';
export type { ProjectionResult } from './projections/projection-result.ts';
export {
  type AmountsOf,
  type IndexOption,
  type JoinedModel,
  type JoinedOptions,
  type MovesOptions,
  type ReadModel,
  type RowIdParts,
  type RowsModel,
  type RowsOptions,
  readModel,
  type TotalsModel,
  type TotalsOptions,
} from './read-models/read-model.ts';
export type { ReadModelStore, ReadRow } from './read-models/read-model-store.ts';
export { RowIdInvalidError, rowId } from './read-models/row-id.ts';
export type { RowValue, Write } from './read-models/write.ts';
export type { Clock } from './runtime/clock.ts';
export { TidemarkError, UnavailableError } from './runtime/errors.ts';
export type { Ids } from './runtime/ids.ts';
export { type Logger, silentLogger } from './runtime/logger.ts';
export { type Meter, silentMeter } from './runtime/meter.ts';
export type { Random } from './runtime/random.ts';
export type { Runtime } from './runtime/runtime.ts';
export { defaultSettings, type SubscriptionSettings } from './subscriptions/settings.ts';
export type { CatchUp, PartitionState, PartitionStatus, SubscriptionStatus } from './subscriptions/status.ts';
export type { Stores } from './subscriptions/stores.ts';
export { DefinitionError, type Processor, type Worker, worker } from './subscriptions/worker.ts';
