/**
 * The demo behind `npm start`: a shop's commits, projected into four read models, on one SQLite file or on the servers of a
 * config. It shows the result, then keeps following while more commits are appended, until it is interrupted.
 */
import { pid } from 'node:process';
import { parseArgs } from 'node:util';
import { type CatchUp, Engine, TidemarkError } from 'tidemark';
import { nodeRuntime, pinoLogger } from 'tidemark/node';
import { exitCodeOf } from '../../src/cli/exit-code.ts';
import { formatCount } from './demo/console-table.ts';
import { type DemoShop, openDemoShop } from './demo/demo-shop.ts';
import { behind, formatReadModel, formatSubscriptions } from './demo/report.ts';
import { appendLive, appendSample, countCommits } from './demo/shop-log.ts';
import shop from './worker.ts';

const usage = `Usage: npm start -- [--until-caught-up] [--fresh] [--config <file>]

  --until-caught-up   end as soon as everything in the log is projected
  --fresh             begin with an empty file
  --config <file>     on the log and store of a config, such as config/worker.example.yaml
  --help              show this

Without a config the file is ./data/tidemark.db, or what TIDEMARK_EMBEDDED_FILE says. \`npm run services\` starts the
servers that config/worker.example.yaml names.
`;

const NEWS_INTERVAL_MS = 5_000;

type Flags = {
  readonly untilCaughtUp: boolean;
  readonly isFresh: boolean;
  readonly isHelp: boolean;
  readonly config: string | undefined;
};

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
    return exitCodeOf(error);
  }
}

/** The flags, or what is wrong with them. */
function parseFlags(args: readonly string[]): Flags | string {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        'until-caught-up': { type: 'boolean' },
        fresh: { type: 'boolean' },
        help: { type: 'boolean' },
        config: { type: 'string' },
      },
    });
    return {
      untilCaughtUp: values['until-caught-up'] === true,
      isFresh: values.fresh === true,
      isHelp: values.help === true,
      config: values.config,
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

async function runDemo({ untilCaughtUp, isFresh, config }: Flags, signal: AbortSignal): Promise<number> {
  const runtime = nodeRuntime(pinoLogger({ level: 'warn', format: 'pretty' }));
  await using demo = await openDemoShop({ config, isFresh, runtime, signal });
  const { place, stores, settings } = demo;
  const appended = await appendSample(demo);
  say(
    appended > 0
      ? `${place} is new: ${formatCount(appended)} commits of two shops are appended to its log.\n`
      : `${place} holds ${formatCount(await countCommits(demo))} commits.\n`,
  );
  await using engine = new Engine({
    worker: shop,
    stores,
    runtime,
    settings,
    owner: `eshop demo, process ${pid}`,
  });
  engine.start();
  const found = await Promise.race([engine.caughtUp(signal), engine.failed]);
  if (signal.aborted) return goodbye();
  await show(demo, { found, config });
  if (!found.isComplete) {
    process.stderr.write('Not everything could be projected: the table above says why.\n');
    return 1;
  }
  if (untilCaughtUp) return 0;
  say('Five more commits a second from now on; Ctrl+C ends it. In another terminal, try the commands above.\n');
  await Promise.race([followLive(demo, engine, signal), engine.failed]);
  return goodbye();
}

type Shown = { readonly found: CatchUp; readonly config: string | undefined };

async function show({ stores }: DemoShop, { found: { subscriptions }, config }: Shown): Promise<void> {
  const option = config === undefined ? '' : ` --config ${config}`;
  say(formatSubscriptions(subscriptions));
  for (const { name } of shop.subscriptions.flatMap(({ models }) => models)) {
    say(await formatReadModel(stores.readModels, name));
  }
  say(`Look further:

  npm run -s tidemark -- status${option}
  npm run -s tidemark -- rows order_summary --json${option} | head
  npm run -s tidemark -- rows buyer_totals acme/buyer-0001${option}
`);
}

/** Appends in the same process, and tells now and then what came of it. */
async function followLive(demo: DemoShop, engine: Engine, signal: AbortSignal): Promise<void> {
  let appended = 0;
  let toldAt = performance.now();
  await appendLive(
    demo,
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
