import type { Stores } from '../../subscriptions/stores.ts';
import { type Subscription, topicsOf } from '../../subscriptions/subscription.ts';
import type { Worker } from '../../subscriptions/worker.ts';
import { type Finding, orRefusal } from './finding.ts';

/** What is to be said of the topics that a subscription follows, and of its positions in them. */
export async function topicFindings(subscription: Subscription, stores: Stores): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  for (const topic of topicsOf(subscription)) {
    const what = `${subscription.name} in ${topic}`;
    findings.push(...(await orRefusal(what, () => findingsIn(subscription, topic, stores))));
  }
  return findings;
}

/** Whether a followed topic is there, whole, and holds the position to go on from. */
async function findingsIn({ name }: Subscription, topic: string, stores: Stores): Promise<readonly Finding[]> {
  const { partitions, identity } = await stores.log.describe(topic);
  const what = `${name} in ${topic}`;
  if (partitions.length === 0) return [{ level: 'note', what, finding: 'The topic does not exist yet.' }];
  const findings: Finding[] = [];
  const stored = (await stores.checkpoints.list()).filter(
    (one) => one.scope.subscription === name && one.topic === topic,
  );
  for (const { scope, partition, offset } of stored) {
    const bounds = partitions.find((one) => one.partition === partition);
    const initialisation = await stores.checkpoints.initialisation(scope, topic);
    if (initialisation !== undefined && initialisation.identity !== identity) {
      findings.push({ level: 'problem', what, finding: 'The log is another one than the positions were made on.' });
      break;
    }
    if (bounds === undefined || offset > bounds.end) {
      const finding = `Partition ${partition} stands at ${offset}, beyond the end ${bounds?.end ?? 0} of the log.`;
      findings.push({ level: 'problem', what, finding });
    } else if (offset < bounds.low) {
      const finding = `Partition ${partition} lost the commits from ${offset} to ${bounds.low}.`;
      findings.push({ level: 'problem', what, finding });
    }
  }
  const cut = partitions.filter(({ low }) => low > 0).map(({ partition }) => partition);
  if (stored.length === 0 && cut.length > 0) {
    findings.push({ level: 'note', what, finding: `History is incomplete in partition(s) ${cut.join(', ')}.` });
  }
  return findings;
}

/** Checkpoints that no function claims: removed, or renamed. */
export async function orphans({ subscriptions }: Worker, stores: Stores): Promise<readonly Finding[]> {
  const known = new Set(subscriptions.map(({ name }) => name));
  const stored = new Set((await stores.checkpoints.list()).map(({ scope }) => scope.subscription));
  return [...stored]
    .filter((name) => !known.has(name))
    .map((name) => ({
      level: 'note',
      what: name,
      finding: 'It has positions, but no function in the app has this name.',
    }));
}
