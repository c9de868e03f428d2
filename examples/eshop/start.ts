/**
 * The demo behind `npm start`: a shop's commits on one SQLite file, projected into four read models. It shows the result,
 * then keeps following while more commits are appended, until it is interrupted.
 */
import { pid } from 'node:process';
import { parseArgs } from 'node:util';
import { type CatchUp, defaultSettings, Engine, TidemarkError } from 'tidemark';
import { type EmbeddedFile, FileHeldError } from 'tidemark/embedded';
import { nodeRuntime, pinoLogger } from 'tidemark/node';
import { formatCount } from './demo/console-table.ts';
import { demoFilePath, openDemoFile } from './demo/demo-file.ts';
import { behind, formatReadModel, formatSubscriptions } from './demo/report.ts';
import { appendLive, appendSample, countCommits } from './demo/shop-log.ts';
import shop from './worker.ts';

const usage = `Usage: npm start -- [--until-caught-up] [--fresh]

  --until-caught-up   end as soon as everything in the log is projected
  --fresh             begin with an empty file
  --help              show this

The file is ./data/tidemark.db, or what TIDEMARK_EMBEDDED_FILE says.
`;

const NEWS_INTERVAL_MS = 5_000;

type Flags = { readonly untilCaughtUp: boolean; readonly isFresh: boolean; readonly isHelp: boolean };

process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  const flags = parseFlags(args);
  if (typeof flags === 'string') {
    process.stderr.write(`${flags}\n\n${usage}`);
    return 2;
  }
  if (flags.isHelp) {
    say(usage);
    return 0;
  }
  try {
    return await runDemo(flags, interrupted());
  } catch (error) {
    process.stderr.write(`${describe(error)}\n`);
    return error instanceof FileHeldError ? 5 : 1;
  }
}

/** The flags, or what is wrong with them. */
function parseFlags(args: readonly string[]): Flags | string {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: { 'until-caught-up': { type: 'boolean' }, fresh: { type: 'boolean' }, help: { type: 'boolean' } },
    });
    return {
      untilCaughtUp: values['until-caught-up'] === true,
      isFresh: values.fresh === true,
      isHelp: values.help === true,
    };
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Aborts at the first SIGINT or SIGTERM; the second one ends the process at once. */
function interrupted(): AbortSignal {
  const controller = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => controller.abort());
  return controller.signal;
}

async function runDemo({ untilCaughtUp, isFresh }: Flags, signal: AbortSignal): Promise<number> {
  const path = demoFilePath();
  await using file = await openDemoFile(path, { isFresh });
  const appended = await appendSample(file);
  say(
    appended > 0
      ? `${path} is new: ${formatCount(appended)} commits of two shops are appended to its log.\n`
      : `${path} holds ${formatCount(await countCommits(file))} commits.\n`,
  );
  await using engine = new Engine({
    worker: shop,
    stores: file,
    runtime: nodeRuntime(pinoLogger({ level: 'warn', format: 'pretty' })),
    settings: () => defaultSettings,
    owner: `eshop demo, process ${pid}`,
  });
  engine.start();
  const found = await Promise.race([engine.caughtUp(signal), engine.failed]);
  if (signal.aborted) return goodbye();
  await show(file, found);
  if (!found.isComplete) {
    process.stderr.write('Not everything could be projected: the table above says why.\n');
    return 1;
  }
  if (untilCaughtUp) return 0;
  say('Five more commits a second from now on; Ctrl+C ends it. In another terminal, try the commands above.\n');
  await Promise.race([followLive(file, engine, signal), engine.failed]);
  return goodbye();
}

async function show(file: EmbeddedFile, { subscriptions }: CatchUp): Promise<void> {
  say(formatSubscriptions(subscriptions));
  for (const { name } of shop.subscriptions.flatMap(({ models }) => models)) {
    say(await formatReadModel(file.readModels, name));
  }
  say(`Look further:

  npm run -s tidemark -- status
  npm run -s tidemark -- rows order_summary --json | head
  npm run -s tidemark -- rows buyer_totals acme/buyer-0001
`);
}

/** Appends in the same process, and tells now and then what came of it. */
async function followLive(file: EmbeddedFile, engine: Engine, signal: AbortSignal): Promise<void> {
  let appended = 0;
  let toldAt = performance.now();
  await appendLive(
    file,
    ({ body, aggregateId, tenantId }) => {
      appended += 1;
      if (performance.now() - toldAt < NEWS_INTERVAL_MS) return;
      toldAt = performance.now();
      const late = behind(engine.status().flatMap(({ partitions }) => partitions));
      const what = `${body.map(({ name }) => name).join(' and ')} of ${aggregateId} (${tenantId ?? ''})`;
      say(`${formatCount(appended)} appended, the last one ${what}; ${late === 0 ? 'all projected' : `${late} to go`}`);
    },
    signal,
  );
}

function goodbye(): number {
  say('\nStopped. Every position is saved; the next start goes on from there.');
  return 0;
}

function describe(error: unknown): string {
  if (!(error instanceof TidemarkError)) return error instanceof Error ? (error.stack ?? error.message) : String(error);
  return error.hint === undefined ? error.message : `${error.message}\n${error.hint}`;
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
