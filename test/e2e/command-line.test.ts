import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { openEmbedded } from '../../src/adapters/embedded/index.ts';
import { commandLine, type Ended, type Running, Workplace } from '../support/command-line.ts';
import { orderApp, orderLine, orderLines } from '../support/order-app.ts';

async function shop(): Promise<Workplace> {
  const place = await Workplace.open();
  await place.write('app.ts', orderApp);
  await place.write('worker.yaml', 'app: ./app.ts\nembedded: { file: shop.db }\n');
  return place;
}

const config = ['--config', 'worker.yaml'] as const;

function jsonLines({ stdout }: Ended): readonly Readonly<Record<string, unknown>>[] {
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);
}

describe('a worker in a folder outside of the package', () => {
  test('projects what is appended, and says where it stands', async () => {
    await using place = await shop();
    await place.write(
      'commits.jsonl',
      `${orderLines(50)}${orderLine({ id: 'O-7', version: 2, status: 'shipped', units: 7 })}\n`,
    );
    expect(await place.run(['append', 'commits.jsonl', ...config])).toMatchObject({
      code: 0,
      stdout: 'Appended 51 commits; 0 were in the log already.\n',
      stderr: '',
    });

    const ran = await place.run(['run', '--until-caught-up', ...config]);
    expect(ran).toMatchObject({ code: 0, stdout: expect.stringContaining('OrderProjection.onEvent') as unknown });
    expect(ran.stderr).not.toMatch(/warning|"level":"(warn|error)"/i);

    const rows = jsonLines(await place.run(['rows', 'orders', '--json', ...config]));
    expect(rows).toHaveLength(50);
    expect(rows).toContainEqual({ _id: 'O-7', orderId: 'O-7', status: 'shipped', units: 7 });
    const one = await place.run(['rows', 'orders', 'O-3', '--json', ...config]);
    expect(jsonLines(one)).toEqual([{ _id: 'O-3', orderId: 'O-3', status: 'placed', units: 3 }]);
    expect(await place.run(['rows', 'orders', 'O-999', ...config])).toMatchObject({ code: 1, stdout: '' });

    const status = jsonLines(await place.run(['status', '--json', ...config]));
    expect(status.map(({ partition, lag, parked }) => ({ partition, lag, parked }))).toEqual(
      [0, 1, 2, 3].map((partition) => ({ partition, lag: 0, parked: 0 })),
    );
    expect(status.reduce((sum, { offset }) => sum + Number(offset), 0)).toBe(51);
  });

  test('takes commits that arrive while it runs, and ends in order at once when it is told to', async () => {
    await using place = await shop();
    const worker = place.start(['run', '--log-level', 'debug', ...config]);
    await worker.says('A subscription follows');
    expect((await place.run(['append', '-', ...config], { input: orderLines(10) })).code).toBe(0);
    let lags: readonly unknown[] = [];
    while (lags.length < 4 || lags.some((lag) => lag !== 0)) {
      lags = jsonLines(await place.run(['status', '--json', ...config])).map(({ lag }) => lag);
    }
    const toldAt = performance.now();
    worker.child.kill('SIGTERM');
    expect(await worker.ended()).toMatchObject({ code: 0, signal: null, stdout: '' });
    expect(performance.now() - toldAt).toBeLessThan(3_000);
    expect(jsonLines(await place.run(['rows', 'orders', '--json', ...config]))).toHaveLength(10);
  });

  test('is alone on its file: a second one is refused and told who is there', async () => {
    await using place = await shop();
    const first = place.start(['run', ...config]);
    await first.says('A subscription follows');
    const second = await place.run(['run', '--until-caught-up', ...config]);
    expect(second).toMatchObject({ code: 5, stdout: '' });
    expect(second.stderr).toMatch(new RegExp(`^error FILE_HELD: .*process ${first.child.pid}, started at 2`, 'm'));
    first.child.kill('SIGINT');
    expect((await first.ended()).code).toBe(0);
    expect((await place.run(['run', '--until-caught-up', ...config])).code).toBe(0);
  });

  test('names what is parked, and still ends well', async () => {
    await using place = await shop();
    const bad = [orderLine({ id: 'O-bad', version: 1, units: -1 }), orderLine({ id: 'O-bad', version: 2 })].join('\n');
    await place.run(['append', '-', ...config], { input: `${orderLines(5)}${bad}\n` });
    const ran = await place.run(['run', '--until-caught-up', ...config]);
    expect(ran.code).toBe(0);
    expect(ran.stdout).toContain('shop.order/(0)/O-bad');
    expect(ran.stdout).toContain('units below zero');
    const listed = jsonLines(await place.run(['failures', 'list', '--json', ...config]));
    expect(listed).toMatchObject([
      {
        subscription: 'OrderProjection.onEvent',
        version: 1,
        role: 'head',
        message: 'units below zero',
        error: 'TypeError',
      },
      { subscription: 'OrderProjection.onEvent', version: 2, role: 'follower' },
    ]);
    expect(jsonLines(await place.run(['status', '--json', ...config])).map(({ parked }) => parked)).toContain(2);
    expect(
      jsonLines(await place.run(['failures', 'list', '--ref', 'shop.order/(0)/O-1', '--json', ...config])),
    ).toEqual([]);
  });

  test('whose read model is stored as another kind is refused with 5, however it is run', async () => {
    await using place = await shop();
    await place.run(['append', '-', ...config], { input: orderLine({ id: 'O-1', version: 1 }) });
    expect(await place.run(['run', '--until-caught-up', ...config])).toMatchObject({ code: 0 });
    const put = 'Orders.put(ref.id, { orderId: ref.id, status: state.status, units: state.units });';
    const totals = orderApp
      .replace("readModel<OrderRow>('orders')", "readModel<{ units: number }>('orders', { kind: 'totals' })")
      .replace(put, 'Orders.add(ref.id, { units: state.units });');
    await place.write('app.ts', totals);
    for (const args of [['run'], ['run', '--until-caught-up']]) {
      expect(await place.run([...args, ...config])).toMatchObject({
        code: 5,
        stderr: expect.stringContaining('is stored as rows, and is declared as totals now') as unknown,
      });
    }
    await place.write('app.ts', orderApp);
    expect(await place.run(['run', '--until-caught-up', ...config])).toMatchObject({ code: 0 });
  });

  test('may have fields of any name: rows prints them, and its own id as _id', async () => {
    await using place = await shop();
    const put = 'Orders.put(ref.id, { orderId: ref.id, status: state.status, units: state.units });';
    const odd =
      "Orders.put(ref.id, ref.id === 'O-1' ? { constructor: 'a', toString: 'b', _id: 'its own' } : { n: 1 });";
    expect(orderApp).toContain(put);
    await place.write('app.ts', orderApp.replace(put, odd).replace('readModel<OrderRow>', 'readModel<object>'));
    await place.run(['append', '-', ...config], {
      input: [1, 2].map((n) => orderLine({ id: `O-${n}`, version: 1 })).join('\n'),
    });
    await place.run(['run', '--until-caught-up', ...config]);
    const { stdout } = await place.run(['rows', 'orders', ...config]);
    expect(stdout.split('\n').map((line) => line.split('│').map((cell) => cell.trim()))).toEqual(
      expect.arrayContaining([
        ['', '_id', 'constructor', 'toString', 'n', ''],
        ['', 'O-1', 'a', 'b', '', ''],
        ['', 'O-2', '', '', '1', ''],
      ]),
    );
    expect(jsonLines(await place.run(['rows', 'orders', 'O-1', '--json', ...config]))).toEqual([
      { _id: 'O-1', constructor: 'a', toString: 'b' },
    ]);
  });

  test('whose bound of parked commits is reached ends with 1 and names the partition', async () => {
    await using place = await shop();
    const bad = [1, 2, 3].map((version) => orderLine({ id: 'O-bad', version, units: -1 })).join('\n');
    await place.run(['append', '-', ...config], { input: bad });
    const ran = await place.run(['run', '--until-caught-up', '--set', 'defaults.parked.perAggregate=2', ...config]);
    expect(ran.code).toBe(1);
    expect(ran.stderr).toMatch(
      /^stopped OrderProjection\.onEvent in wow\.shop\.order\.state, partition \d: stopped: /m,
    );
  });

  test('that leaves a rejection alone is stopped in order, and ends with 1', async () => {
    await using place = await shop();
    await place.write(
      'app.ts',
      `${orderApp}\nsetTimeout(() => { void Promise.reject(new Error('left alone')); }, 200);\n`,
    );
    const ran = await place.run(['run', ...config]);
    expect(ran).toMatchObject({ code: 1, signal: null });
    expect(ran.stderr).toContain('left alone');
    expect(ran.stderr).toContain('The worker stopped.');
  });
});

describe('a worker that cannot finish what it is writing', () => {
  /** A worker with a transaction on the wire, which another process holds up. */
  async function stuck(place: Workplace, more: readonly string[]): Promise<{ worker: Running; holder: DatabaseSync }> {
    const worker = place.start([
      'run',
      '--set',
      'defaults.batch.wait=300ms',
      '--log-level',
      'debug',
      ...more,
      ...config,
    ]);
    await worker.says('A subscription follows');
    await using file = await openEmbedded({ file: join(place.folder, 'shop.db'), role: 'appender' });
    await file.append(orderLines(10).trim().split('\n'));
    const holder = new DatabaseSync(join(place.folder, 'shop.db'));
    holder.exec('BEGIN IMMEDIATE');
    await sleep(1_500);
    return { worker, holder };
  }

  test('ends within its grace, and goes on at the next start', async () => {
    await using place = await shop();
    const { worker, holder } = await stuck(place, ['--set', 'drain=400ms']);
    const toldAt = performance.now();
    worker.child.kill('SIGTERM');
    const ended = await worker.ended();
    holder.close();
    expect(ended.code).toBe(0);
    expect(ended.stderr).toContain('could not finish in time');
    expect(performance.now() - toldAt).toBeLessThan(5_000);
    await place.run(['run', '--until-caught-up', ...config]);
    expect(jsonLines(await place.run(['rows', 'orders', '--json', ...config]))).toHaveLength(10);
  });

  test('ends at once at the second signal', async () => {
    await using place = await shop();
    const { worker, holder } = await stuck(place, []);
    worker.child.kill('SIGTERM');
    await sleep(400);
    const toldAt = performance.now();
    worker.child.kill('SIGTERM');
    const ended = await worker.ended();
    holder.close();
    expect(ended).toMatchObject({ code: 143, signal: null });
    expect(performance.now() - toldAt).toBeLessThan(1_000);
  });
});

describe('append', () => {
  test('stores a file twice as if once', async () => {
    await using place = await shop();
    await place.write('commits.jsonl', orderLines(20));
    await place.run(['append', 'commits.jsonl', ...config]);
    const again = await place.run(['append', 'commits.jsonl', '--json', ...config]);
    expect(jsonLines(again)).toEqual([{ lines: 20, appended: 0, repeated: 20, isComplete: true }]);
  });

  test('names the line of a bad record, and stores nothing of the file', async () => {
    await using place = await shop();
    await place.write('commits.jsonl', `${orderLines(2)}{"id": "x"}\n${orderLines(1)}`);
    const appended = await place.run(['append', 'commits.jsonl', ...config]);
    expect(appended).toMatchObject({ code: 1, stdout: '' });
    expect(appended.stderr).toMatch(/^error BAD_RECORD: Line 3: .*nothing was stored/);
    expect(appended.stderr).toMatch(/^hint: /m);
    await place.write('commits.jsonl', orderLines(2));
    expect((await place.run(['append', 'commits.jsonl', ...config])).stdout).toContain('Appended 2 commits');
  });

  test('mirrors a foreign log with --as-is, but keeps its own in order', async () => {
    await using place = await shop();
    const input = `${orderLine({ id: 'O-1', version: 3 })}\n`;
    const strict = await place.run(['append', '-', ...config], { input });
    expect(strict).toMatchObject({ code: 1, stderr: expect.stringContaining('VERSION_GAP') as unknown });
    expect((await place.run(['append', '-', '--as-is', ...config], { input })).code).toBe(0);
  });

  test('says so when its input is not there', async () => {
    await using place = await shop();
    expect(await place.run(['append', 'none.jsonl', ...config])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('error USAGE: The input') as unknown,
    });
  });
});

describe('output', () => {
  test('ends quietly when its reader goes away', async () => {
    await using place = await shop();
    await place.run(['append', '-', ...config], { input: orderLines(5_000) });
    await place.run(['run', '--until-caught-up', ...config]);
    const program = commandLine.map((part) => `"${part}"`).join(' ');
    const command = `${program} rows orders --json --config worker.yaml`;
    const shell = spawn('bash', ['-c', `set -o pipefail; ${command} | head -n 2`], { cwd: place.folder });
    const closed = once(shell, 'close');
    const [stdout, stderr] = await Promise.all([text(shell.stdout), text(shell.stderr)]);
    const [code] = (await closed) as [number];
    expect({ lines: stdout.trim().split('\n').length, stderr, code }).toEqual({ lines: 2, stderr: '', code: 0 });
  });

  test('has no colour codes where there is no terminal', async () => {
    await using place = await shop();
    const { stdout } = await place.run(['config', 'print', ...config]);
    expect(stdout).toContain('embedded.file');
    expect(stdout).not.toContain('\u001B');
  });
});

describe('mistakes', () => {
  test.each([
    [['statsu'], 2, /^error USAGE: unknown command 'statsu'\nhint: Did you mean status\?/],
    [['rows', 'orders', '--jsn'], 2, /^error USAGE: unknown option '--jsn'\nhint: Did you mean --json\?/],
    [['rows'], 2, /^error USAGE: missing required argument 'model'/],
    [['run', '--set', 'x'], 2, /^error USAGE: --set takes key=value/],
    [[], 2, /^Usage: tidemark/],
    [['status'], 4, /^error FILE_MISSING: /],
    [['run', '--config', 'none.yaml'], 3, /^error CONFIG_UNREADABLE: /],
  ])('in the command line %j end with %i', async (args, code, stderr) => {
    await using place = await shop();
    const own = args.includes('--config') || code === 2 ? [] : config;
    const ended = await place.run([...args, ...own]);
    expect(ended).toMatchObject({ code, stdout: '', stderr: expect.stringMatching(stderr) as unknown });
    expect(ended.stderr).not.toMatch(/^\s+at /m);
  });

  test('in the config are listed all at once, with the nearest names', async () => {
    await using place = await shop();
    await place.write('worker.yaml', 'app: ./app.ts\nembeded: { file: a }\ndrain: 30\n');
    const environment = { TIDEMARK_DEFAULTS_BATCH_RECORD: '5' };
    const ended = await place.run(['run', '--log-level', 'loud', ...config], { environment });
    expect(ended).toMatchObject({ code: 3, stdout: '' });
    expect(ended.stderr).toMatch(/^error CONFIG_INVALID: The config has 4 problems:$/m);
    expect(ended.stderr).toContain('- embeded: expected a known key (nearest: embedded)');
    expect(ended.stderr).toContain('(nearest: TIDEMARK_DEFAULTS_BATCH_RECORDS)');
    expect(ended.stderr).toContain('- drain: expected a duration');
    expect(ended.stderr).toContain('- logs.level: expected one of');
  });

  test('in the name of a subscription are found when the app is known', async () => {
    await using place = await shop();
    const named = ['--set', 'subscriptions.OrderProjektion.onEvent.start=end', ...config];
    for (const command of [['run'], ['check'], ['config', 'check']]) {
      const ended = await place.run([...command, ...named]);
      expect(ended).toMatchObject({
        code: 3,
        stderr: expect.stringContaining('nearest: OrderProjection.onEvent') as unknown,
      });
    }
  });

  test.each([
    ['is not there', undefined, /^error APP_MISSING: .*app\.ts is not there$/m],
    ['throws', "throw new RangeError('no luck');", /^error APP_BROKEN: .*no luck \(.*app\.ts:1/m],
    ['is no TypeScript', 'const = 5;', /^error APP_BROKEN: /m],
    ['needs more than types stripped', 'enum A { B }\nexport default A;', /TypeScript runs by stripping types/],
    ['imports what is not there', "import 'no-such-package';", /^error APP_BROKEN: .*no-such-package/m],
    ['exports nothing', 'const a = 1;', /^error APP_WITHOUT_WORKER: .*exports nothing/m],
    ['exports something else', 'export default { kind: 5 };', /^error APP_WITHOUT_WORKER: .*an object instead/m],
    [
      'has contradictory definitions',
      "import { worker } from 'tidemark'; export default worker({ context: '', subscriptions: [] });",
      /^error DEFINITION_INVALID: /m,
    ],
  ])('in an app that %s are explained', async (_what, source, stderr) => {
    await using place = await shop();
    if (source === undefined) await place.write('worker.yaml', 'app: ./none/app.ts');
    else await place.write('app.ts', source);
    const ended = await place.run(['run', '--until-caught-up', ...config]);
    expect(ended).toMatchObject({ code: 3, stdout: '', stderr: expect.stringMatching(stderr) as unknown });
    expect(ended.stderr).toMatch(/^hint: /m);
  });
});

describe('an app', () => {
  test('in a package of CommonJS is told how to be a module', async () => {
    await using place = await shop();
    await place.write('package.json', '{ "type": "commonjs" }');
    const ended = await place.run(['run', '--until-caught-up', ...config]);
    expect(ended).toMatchObject({ code: 3, stderr: expect.stringMatching(/^hint: Name it \.mts/m) as unknown });
  });

  test('may be plain JavaScript, with its worker exported by name', async () => {
    await using place = await shop();
    const source =
      "import { aggregate, into, projection, readModel, worker as w } from 'tidemark';\nimport 'tidemark/embedded';\n";
    const model =
      "const M = readModel('m');\nconst p = projection('P', { f: into(M, aggregate('a.b').onState(() => [])) });\n";
    await place.write('app.mjs', `${source}${model}export const worker = w({ context: 'a', subscriptions: [p] });`);
    expect(await place.run(['check', '--app', 'app.mjs', ...config])).toMatchObject({ code: 0, stderr: '' });
  });

  test('may be CommonJS', async () => {
    await using place = await shop();
    const source = "const { aggregate, into, projection, readModel, worker } = require('tidemark');\n";
    const model =
      "const M = readModel('m');\nconst p = projection('P', { f: into(M, aggregate('a.b').onState(() => [])) });\n";
    await place.write('app.cjs', `${source}${model}module.exports = worker({ context: 'a', subscriptions: [p] });`);
    expect(await place.run(['check', '--app', 'app.cjs', ...config])).toMatchObject({ code: 0, stderr: '' });
  });
});
