export { commit, type EventCommitFields, type EventToCommit, type StateCommitFields } from './commit.ts';
export type { Delivery } from './delivery.ts';
export { type ProjectionSpec, type ProjectionSpecOptions, projectionSpec } from './projection-spec.ts';
