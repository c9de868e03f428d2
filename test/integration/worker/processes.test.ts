import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import type { Running } from '../../support/command-line.ts';
import { Crew } from './crew.ts';

const hasServers = inject('kafka') !== undefined && inject('mongodb') !== undefined;
const SESSION_MS = 2_000;

/** Each test goes on where the one before ended: the log grows, and in the end of each everything is as it should be. */
describe.skipIf(!hasServers)('worker processes on Kafka and MongoDB', () => {
  let crew: Crew;
  const workers: Running[] = [];

  beforeAll(async () => {
    crew = await Crew.start();
  }, 120_000);
  afterAll(() => crew[Symbol.asyncDispose]());

  function hire(): void {
    workers.push(crew.worker());
  }

  async function kill(worker: Running | undefined): Promise<void> {
    worker?.child.kill('SIGKILL');
    await worker?.ended();
  }

  /** What is wrong once all is handled. */
  async function problems(): Promise<readonly string[]> {
    await crew.settled(60_000);
    return crew.problems();
  }

  test('share the partitions, tell who owns which, and take over those of one that is killed', async () => {
    await crew.publish(500);
    hire();
    hire();
    await crew.settled(30_000);
    const owners = async () => new Set((await crew.positions()).map(({ owner }) => owner));
    const deadline = performance.now() + 20_000;
    while ((await owners()).size < 2 && performance.now() < deadline) await sleep(100);
    expect((await owners()).size).toBe(2);
    const killed = workers.shift();
    const killedPid = String(killed?.child.pid);
    await kill(killed);
    const killedAtMs = performance.now();
    await crew.publish(500);
    await crew.settled(30_000);
    expect(performance.now() - killedAtMs).toBeLessThan(5 * SESSION_MS);
    const { stdout } = await crew.command('status', '--json');
    const lines = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { owner: string; lag: number });
    expect(lines.every(({ owner, lag }) => lag === 0 && owner.split(':')[1] !== killedPid)).toBe(true);
    expect(await problems()).toEqual([]);
  }, 90_000);

  test('lose and double nothing when they are killed twenty times under load', async () => {
    while (workers.length < 2) hire();
    await crew.publishDuring(async () => {
      for (let round = 0; round < 20; round += 1) {
        // At work, not while it waits for its turn.
        const killed = await crew.busy(workers, 20_000);
        await sleep((round * 37) % 300);
        workers.splice(workers.indexOf(killed), 1);
        await kill(killed);
        hire();
      }
    });
    expect(await problems()).toEqual([]);
  }, 180_000);

  test('are harmless when they wake up after they were taken for dead', async () => {
    while (workers.length < 2) hire();
    await crew.publishDuring(async () => {
      await sleep(1_000);
      workers[0]?.child.kill('SIGSTOP');
      await sleep(2 * SESSION_MS + 500);
      workers[0]?.child.kill('SIGCONT');
      await sleep(2_000);
    });
    expect(await problems()).toEqual([]);
    expect(workers[0]?.child.exitCode).toBeNull();
  }, 90_000);

  test('go on while a third one joins and leaves again and again', async () => {
    while (workers.length < 2) hire();
    await crew.publishDuring(async () => {
      for (let round = 0; round < 6; round += 1) {
        const third = crew.worker();
        await sleep(2_500);
        third.child.kill(round % 2 === 0 ? 'SIGTERM' : 'SIGKILL');
        await third.ended();
      }
    });
    expect(await problems()).toEqual([]);
  }, 120_000);

  test('outlive brokers and the database that are killed and come back', async () => {
    while (workers.length < 2) hire();
    await crew.publish(2_000);
    await crew.mongod.signal('SIGKILL');
    await sleep(1_500);
    await crew.mongod.start();
    await crew.mongod.ready();
    await crew.publish(1_000);
    await crew.kafka.signalBroker(2, 'SIGKILL');
    await sleep(1_500);
    await crew.kafka.startBroker(2);
    await crew.kafka.ready();
    await crew.publish(1_000);
    expect(await problems()).toEqual([]);
    for (const { child } of workers) expect(child.exitCode).toBeNull();
  }, 120_000);

  test('end with 0 when they are told to, and leave their partitions to the others at once', async () => {
    while (workers.length < 2) hire();
    const leaving = workers.shift();
    await crew.publish(200);
    leaving?.child.kill('SIGTERM');
    expect(await leaving?.ended()).toMatchObject({ code: 0 });
    await crew.publish(200);
    expect(await problems()).toEqual([]);
  }, 60_000);
});
