import type { Logger } from '../../../runtime/logger.ts';
import type { ConnectionSettings } from '../cluster/connection-settings.ts';

/** How members of groups behave; what is not said has the default beside it. */
export type GroupSettings = {
  /** A member that is not heard of for so long is put out; 30 s. */
  readonly sessionTimeoutMs: number;
  /** How often a member says that it is there, and how fast it learns of a change; 1 s. */
  readonly heartbeatIntervalMs: number;
  /** How long a change of the group waits for its members; 60 s. */
  readonly rebalanceTimeoutMs: number;
  /** How late new topics and partitions may be noticed; 30 s. */
  readonly metadataMaxAgeMs: number;
  /** How often positions are told to the group, for lag tools; 5 s. */
  readonly mirrorIntervalMs: number;
  /** How long leaving may take; 10 s. */
  readonly leaveMaxMs: number;
};

/** Who joins which group, and how. */
export type GroupMember = {
  readonly groupId: string;
  readonly topics: readonly string[];
  readonly connection: ConnectionSettings;
  readonly group: GroupSettings;
  readonly logger: Logger;
};
