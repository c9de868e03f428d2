export type MetricLabels = Readonly<Record<string, string | number>>;

/** Where counts and measurements go. Labels are bounded: subscription and partition, never a key. Must not throw. */
export interface Meter {
  /** Raises a counter. */
  add(name: string, value: number, labels?: MetricLabels): void;
  /** Sets a gauge. */
  set(name: string, value: number, labels?: MetricLabels): void;
}

/** Keeps nothing. */
export const silentMeter: Meter = { add: () => undefined, set: () => undefined };
