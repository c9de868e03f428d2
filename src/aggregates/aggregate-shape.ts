/** An aggregate as the engine sees it. */
export type AggregateShape = {
  /** `context.aggregate`. */
  readonly name: string;
  readonly context: string;
  readonly aggregate: string;
  /** The one topic that subscriptions follow it on. */
  readonly topic: string;
  readonly carriesState: boolean;
  /** Declared event names; `undefined`: any. */
  readonly events: ReadonlySet<string> | undefined;
};

/** What is wrong with a declaration, a sentence each. */
export function aggregateProblems(shape: AggregateShape): readonly string[] {
  const problems: string[] = [];
  if (shape.context === '' || shape.aggregate === '') {
    problems.push(`aggregate '${shape.name}': expected a name of the form context.aggregate`);
  }
  if (shape.topic === '') problems.push(`aggregate '${shape.name}': expected a topic name that is not empty`);
  return problems;
}
