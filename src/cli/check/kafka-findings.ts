import { formatDuration } from '../../runtime/duration.ts';
import { formatSize } from '../../runtime/size.ts';
import { topicsOf } from '../../subscriptions/subscription.ts';
import type { Worker } from '../../subscriptions/worker.ts';
import type { KafkaLog, TopicRetention } from '../compose.ts';
import { type Finding, orRefusal } from './finding.ts';

/** What is to be said of the groups of a worker, and of how long its topics keep their commits. */
export async function kafkaFindings({ subscriptions }: Worker, kafka: KafkaLog): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  const topics = new Set<string>();
  for (const subscription of subscriptions) {
    findings.push(...(await orRefusal(subscription.name, () => groupFindings(subscription.name, kafka))));
    for (const topic of topicsOf(subscription)) topics.add(topic);
  }
  for (const topic of topics) findings.push(...(await orRefusal(topic, () => retentionFindings(topic, kafka))));
  return findings;
}

async function groupFindings(subscription: string, kafka: KafkaLog): Promise<readonly Finding[]> {
  await kafka.assertMayJoin(subscription);
  return [];
}

async function retentionFindings(topic: string, kafka: KafkaLog): Promise<readonly Finding[]> {
  const { partitions } = await kafka.log.describe(topic);
  // Whether it is there is said where it is followed.
  if (partitions.length === 0) return [];
  return (await kafka.retention([topic])).flatMap((retention) => [...lost(retention), ...stamped(retention)]);
}

function lost({ topic: what, isCompacted, retentionMs, retentionBytes }: TopicRetention): readonly Finding[] {
  if (isCompacted) {
    const finding = 'It is compacted: of an aggregate only the last commit stays. Set cleanup.policy=delete.';
    return [{ level: 'problem', what, finding }];
  }
  const bounds = [
    ...(retentionMs === undefined ? [] : [formatDuration(retentionMs)]),
    ...(retentionBytes === undefined ? [] : [`${formatSize(retentionBytes)} of a partition`]),
  ];
  if (bounds.length === 0) return [];
  const finding = `It keeps ${bounds.join(' and ')}: a new read model starts with what is left. Set retention.ms=-1 and retention.bytes=-1 to keep all.`;
  return [{ level: 'note', what, finding }];
}

function stamped({ topic: what, isStampedByLog }: TopicRetention): readonly Finding[] {
  if (!isStampedByLog) return [];
  const finding =
    'Its records are stamped when they arrive: a start at an instant means that, not when commits were made.';
  return [{ level: 'note', what, finding }];
}
