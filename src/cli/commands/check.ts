import { appOf, checkSubscriptionNames } from '../../config/load.ts';
import { TidemarkError } from '../../runtime/errors.ts';
import type { Stores } from '../../subscriptions/stores.ts';
import { type Subscription, topicsOf } from '../../subscriptions/subscription.ts';
import { checkWorker, type Worker } from '../../subscriptions/worker.ts';
import { loadApp } from '../app-module.ts';
import { type CommandContext, type ConfigOptions, loadCommandConfig } from '../command-context.ts';
import { openForReading } from '../compose.ts';
import { type ExitCode, exitCodes } from '../exit-code.ts';
import { formatTable } from '../screen/table.ts';

/** `problem`: must be put right; `note`: worth knowing. */
type Finding = { readonly level: 'problem' | 'note'; readonly what: string; readonly finding: string };

/** `check`: config, app, stores, topics and positions, without starting anything. */
export async function check(
  context: CommandContext,
  options: ConfigOptions & { readonly json?: boolean },
): Promise<ExitCode> {
  const { terminal } = context;
  const config = await loadCommandConfig(context, options);
  const worker = await loadApp(appOf(config));
  checkWorker(worker);
  checkSubscriptionNames(
    config,
    worker.subscriptions.map(({ name }) => name),
  );
  const findings = await checkStores(worker, () => openForReading(config.values));
  if (options.json === true) {
    for (const finding of findings) await terminal.writeJson(finding);
  } else {
    await terminal.writeLine(`${worker.subscriptions.length} subscriptions are well defined.`);
    if (findings.length > 0) {
      await terminal.writeLine(
        formatTable(
          ['level', 'what', 'finding'],
          findings.map(({ level, what, finding }) => [level, what, finding]),
        ),
      );
    }
  }
  return findings.some(({ level }) => level === 'problem') ? exitCodes.found : exitCodes.done;
}

async function checkStores(
  worker: Worker,
  open: () => Promise<AsyncDisposable & { readonly stores: Stores }>,
): Promise<readonly Finding[]> {
  try {
    await using opened = await open();
    const findings: Finding[] = [];
    for (const subscription of worker.subscriptions) {
      for (const topic of topicsOf(subscription))
        findings.push(...(await checkTopic(subscription, topic, opened.stores)));
    }
    findings.push(...(await orphans(worker, opened.stores)));
    return findings;
  } catch (error) {
    if (!(error instanceof TidemarkError) || error.code !== 'FILE_MISSING') throw error;
    return [{ level: 'note', what: 'embedded.file', finding: `${error.message} It is made by run and by append.` }];
  }
}

/** Whether a followed topic is there, whole, and holds the position to go on from. */
async function checkTopic({ name }: Subscription, topic: string, stores: Stores): Promise<readonly Finding[]> {
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
async function orphans({ subscriptions }: Worker, stores: Stores): Promise<readonly Finding[]> {
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
