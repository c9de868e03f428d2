import { appOf, checkSubscriptionNames } from '../../config/load.ts';
import { TidemarkError } from '../../runtime/errors.ts';
import { checkWorker, type Worker } from '../../subscriptions/worker.ts';
import { loadApp } from '../app-module.ts';
import type { Finding } from '../check/finding.ts';
import { kafkaFindings } from '../check/kafka-findings.ts';
import { mongodbFindings, serverLine } from '../check/mongodb-findings.ts';
import { orphans, topicFindings } from '../check/topic-findings.ts';
import { type CommandContext, type ConfigOptions, loadCommandConfig } from '../command-context.ts';
import { composeLogger, composeRuntime, type Opened, openForReading } from '../compose.ts';
import { type ExitCode, exitCodes } from '../exit-code.ts';
import { formatTable } from '../screen/table.ts';

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
  const runtime = composeRuntime(composeLogger(config.values, terminal));
  const { findings, servers } = await checkStores(worker, () => openForReading(config.values, runtime));
  if (options.json === true) {
    for (const finding of findings) await terminal.writeJson(finding);
  } else {
    await terminal.writeLine(`${worker.subscriptions.length} subscriptions are well defined.`);
    for (const server of servers) await terminal.writeLine(server);
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
  open: () => Promise<Opened>,
): Promise<{ readonly findings: readonly Finding[]; readonly servers: readonly string[] }> {
  try {
    await using opened = await open();
    const { stores, kafka, mongo } = opened;
    const findings: Finding[] = [];
    for (const subscription of worker.subscriptions) findings.push(...(await topicFindings(subscription, stores)));
    findings.push(...(await orphans(worker, stores)));
    if (kafka !== undefined) findings.push(...(await kafkaFindings(worker, kafka)));
    if (mongo !== undefined) findings.push(...(await mongodbFindings(worker, mongo)));
    return { findings, servers: mongo === undefined ? [] : [serverLine(mongo)] };
  } catch (error) {
    if (!(error instanceof TidemarkError) || error.code !== 'FILE_MISSING') throw error;
    const finding = `${error.message} It is made by run and by append.`;
    return { findings: [{ level: 'note', what: 'embedded.file', finding }], servers: [] };
  }
}
