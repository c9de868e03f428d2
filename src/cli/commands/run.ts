import { appOf, checkSubscriptionNames } from '../../config/load.ts';
import type { ConfigValues } from '../../config/schema.ts';
import { subscriptionSettings } from '../../config/subscription-settings.ts';
import { Engine } from '../../engine/engine.ts';
import type { ListedEntry } from '../../failures/failure-ledger.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { LATE, within } from '../../runtime/within.ts';
import type { CatchUp } from '../../subscriptions/status.ts';
import type { Stores } from '../../subscriptions/stores.ts';
import { loadApp } from '../app-module.ts';
import { type CommandContext, type ConfigOptions, loadCommandConfig } from '../command-context.ts';
import { composeLogger, composeRuntime, openForFollowing, ownerName } from '../compose.ts';
import { type ExitCode, exitCodeOfError, exitCodes } from '../exit-code.ts';
import { formatFailures, toFailureLine } from '../screen/failure-report.ts';
import { formatPositions, positionsOf } from '../screen/position-report.ts';
import { openProgress } from '../screen/progress.ts';
import { UncaughtError } from '../uncaught-error.ts';

export type RunOptions = ConfigOptions & { readonly untilCaughtUp?: boolean; readonly json?: boolean };

/** Parked commits that are named; there may be very many. */
const NAMED_MAX = 100;
const PROGRESS_INTERVAL_MS = 250;

/** `run`: follows the log until it is stopped, or until it has passed the ends that the log had at the start. */
export async function run(context: CommandContext, options: RunOptions): Promise<ExitCode> {
  const config = await loadCommandConfig(context, options);
  // The app may take its time, or for ever; nothing is to be finished yet.
  const worker = await Promise.race([loadApp(appOf(config)), aborted(context.signal)]);
  if (worker === undefined) return endOf(context.signal, composeLogger(config.values, context.terminal));
  const names = worker.subscriptions.map(({ name }) => name);
  checkSubscriptionNames(config, names);
  const runtime = composeRuntime(composeLogger(config.values, context.terminal));
  const { signal } = context;
  await using opened = await openForFollowing(config.values, { runtime, signal, service: worker.context }).catch(
    (error: unknown) => {
      // Told to stop while it waited for a store: there is nothing to end.
      if (signal.aborted) return undefined;
      throw error;
    },
  );
  if (opened === undefined) return endOf(signal, runtime.logger);
  const engine = new Engine({
    worker,
    stores: opened.stores,
    runtime,
    settings: (subscription) => subscriptionSettings(config.values, subscription),
    owner: ownerName(),
  });
  engine.start();
  runtime.logger.info('The worker started.', { app: config.values.app, subscriptions: names });
  const over = new AbortController();
  try {
    const found = await Promise.race([
      options.untilCaughtUp === true ? catchUp(context, engine, runtime) : aborted(context.signal),
      // With nothing left to follow a worker would only seem to run.
      engine.allStopped(over.signal).then((): CatchUp => ({ isComplete: false, subscriptions: engine.status() })),
      engine.failed,
    ]);
    if (found === undefined || context.signal.aborted) return endOf(context.signal, runtime.logger);
    return await report(context, { found, stores: opened.stores, isJson: options.json === true });
  } finally {
    over.abort();
    await stop(engine, runtime, config.values);
  }
}

/** What the log held when this was asked is handled when this answers. */
async function catchUp({ terminal, signal }: CommandContext, engine: Engine, runtime: Runtime): Promise<CatchUp> {
  const progress = openProgress({ terminal, clock: runtime.clock, verb: 'Catching up', unit: 'commits' });
  const over = new AbortController();
  const showing = (async () => {
    while (!over.signal.aborted) {
      const partitions = engine.status().flatMap((status) => status.partitions);
      const done = partitions.reduce((sum, { offset }) => sum + offset, 0);
      const total = partitions.reduce((sum, { end }) => sum + end, 0);
      if (total > 0) progress.update(done, total);
      await runtime.clock.sleep(PROGRESS_INTERVAL_MS, over.signal);
    }
  })();
  try {
    return await engine.caughtUp(signal);
  } finally {
    over.abort();
    await showing;
    progress.stop();
  }
}

function aborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    else signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });
}

function endOf({ reason }: AbortSignal, logger: Logger): ExitCode {
  if (reason instanceof UncaughtError) {
    logger.error('Something was thrown that nobody caught; the worker stops.', { error: reason });
    return exitCodes.found;
  }
  logger.info('The worker stops.', { reason: String(reason) });
  return exitCodes.done;
}

/** Never longer than the config allows: what is not finished then is handled again at the next start. */
async function stop(engine: Engine, { clock, logger }: Runtime, { drain }: ConfigValues): Promise<void> {
  const startedAtMs = clock.monotonicMs();
  const ended = await within(drain, engine.stop(), clock);
  const durationMs = Math.round(clock.monotonicMs() - startedAtMs);
  if (ended === LATE) {
    logger.warn('The worker could not finish in time; what is left is repeated at the next start.', { durationMs });
  } else {
    logger.info('The worker stopped.', { durationMs });
  }
}

type Report = { readonly found: CatchUp; readonly stores: Stores; readonly isJson: boolean };

async function report({ terminal }: CommandContext, { found, stores, isJson }: Report): Promise<ExitCode> {
  const positions = positionsOf(found.subscriptions);
  const parked = await parkedOf(found, stores);
  const stopped = [
    ...found.subscriptions.flatMap(({ subscription, stopped: why }) =>
      why === undefined ? [] : [{ name: subscription, why }],
    ),
    ...positions
      .filter(({ state }) => state === 'gap' || state === 'stopped')
      .map(({ subscription, topic, partition, state, reason }) => ({
        name: `${subscription} in ${topic}, partition ${partition}`,
        why: `${state}: ${reason ?? 'no reason given'}`,
      })),
  ];
  if (isJson) {
    await terminal.writeJson({ isComplete: found.isComplete, positions, parked: parked.map(toFailureLine) });
  } else {
    await terminal.writeLine(formatPositions(positions));
    if (parked.length > 0) await terminal.writeLine(`Parked:\n${formatFailures(parked)}`);
  }
  for (const { name, why } of stopped) terminal.writeError(`stopped ${name}: ${why}\n`);
  return found.isComplete ? exitCodes.done : exitCodeOfStops(found);
}

/** A subscription that was refused tells more than that something was found. */
function exitCodeOfStops({ subscriptions }: CatchUp): ExitCode {
  const codes = subscriptions.flatMap(({ stoppedBy }) => (stoppedBy === undefined ? [] : [exitCodeOfError(stoppedBy)]));
  return codes.find((code) => code !== exitCodes.found) ?? exitCodes.found;
}

async function parkedOf({ subscriptions }: CatchUp, stores: Stores): Promise<readonly ListedEntry[]> {
  const withParked = subscriptions.filter(({ partitions }) => partitions.some(({ parked }) => parked > 0));
  const entries: ListedEntry[] = [];
  for (const { subscription } of withParked) {
    entries.push(...(await stores.ledger.list({ subscription }, NAMED_MAX - entries.length)));
    if (entries.length >= NAMED_MAX) break;
  }
  return entries;
}
