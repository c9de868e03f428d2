import type { Initialisation } from '../checkpoints/initialisation.ts';
import { LogChangedError } from '../log/log-changed-error.ts';
import type { TopicDescription } from '../log/log-source.ts';

/** Why positions taken on the one log say nothing of the other; `undefined` if it is the same. */
export function identityProblem(
  { topic, identity }: Initialisation,
  description: TopicDescription,
): LogChangedError | undefined {
  // A topic that did not exist yet had none.
  if (identity === '' || description.identity === '' || identity === description.identity) return undefined;
  return new LogChangedError(
    `The topic ${topic} is another log (${description.identity}) than the one followed so far (${identity}).`,
    { hint: 'Point the worker at the log it followed, or start the subscription anew under another name.' },
  );
}
