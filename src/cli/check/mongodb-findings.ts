import type { Worker } from '../../subscriptions/worker.ts';
import type { MongoStores } from '../compose.ts';
import type { Finding } from './finding.ts';

/** What is to be said of the database that a worker is to use. */
export async function mongodbFindings({ context }: Worker, mongo: MongoStores): Promise<readonly Finding[]> {
  const { service, missingRights } = await mongo.inspect();
  const findings: Finding[] = [];
  if (service === undefined) {
    findings.push({
      level: 'note',
      what: 'store.database',
      finding: 'No worker has used it yet; the first run makes it.',
    });
  } else if (service !== context) {
    const finding = `It belongs to the service ${service}, not to ${context}. Name another database: each service has its own.`;
    findings.push({ level: 'problem', what: 'store.database', finding });
  }
  if (missingRights.length > 0) {
    const finding = `The user may not do this: ${missingRights.join(', ')}. Grant the role readWrite on the database.`;
    findings.push({ level: 'problem', what: 'store.url', finding });
  }
  return findings;
}

/** Which server answers. */
export function serverLine({ server: { version, replicaSet } }: MongoStores): string {
  return `The store is MongoDB ${version}, ${replicaSet === undefined ? 'sharded' : `replica set ${replicaSet}`}.`;
}
