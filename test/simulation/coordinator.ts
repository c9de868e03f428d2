import { partitionKey, type TopicPartition } from '../../src/log/position.ts';
import { integerBelow, isDrawn, pick } from '../../src/testing/world/chance.ts';
import type { MemoryLogSession } from '../../src/testing/world/memory-log-session.ts';
import type { World } from '../../src/testing/world/world.ts';

type Slot = {
  readonly subscription: string;
  readonly partition: TopicPartition;
  readonly owners: Set<MemoryLogSession>;
};

/**
 * Moves partitions between the sessions of a subscription as a careless group coordinator would: at any time, sometimes
 * to a new owner before the old one knows, sometimes with a while in which nobody owns them.
 */
export class Coordinator {
  readonly #world: World;
  readonly #slots = new Map<string, Slot>();
  readonly #gone = new Set<MemoryLogSession>();

  constructor(world: World) {
    this.#world = world;
  }

  /** The sessions of a process that is gone; the coordinator notices after the session timeout. */
  lose(sessions: readonly MemoryLogSession[]): void {
    this.#world.clock.at(integerBelow(this.#world.random, 3_000), () => {
      for (const session of sessions) {
        this.#gone.add(session);
        for (const { owners } of this.#slots.values()) owners.delete(session);
      }
    });
  }

  /** Looks once, and moves something. */
  step(): void {
    const { random, clock } = this.#world;
    const slots = this.#all();
    for (const slot of slots.filter(({ owners }) => owners.size === 0)) {
      if (isDrawn(random, 0.5)) this.#giveTo(slot, this.#candidates(slot));
    }
    if (slots.length === 0 || !isDrawn(random, 0.3)) return;
    const slot = pick(random, slots);
    const before = [...slot.owners];
    const isOverlapping = isDrawn(random, 0.4);
    if (isOverlapping) this.#giveTo(slot, this.#candidates(slot));
    clock.at(isOverlapping ? integerBelow(random, 1_500) : 0, () => {
      for (const session of before) this.#take(slot, session);
    });
  }

  /** From now on each partition has one owner. */
  settle(): void {
    for (const slot of this.#all()) {
      const candidates = this.#candidates(slot);
      const [owner = candidates[0]] = [...slot.owners].filter((session) => candidates.includes(session));
      if (owner === undefined) continue;
      for (const session of slot.owners) if (session !== owner) this.#take(slot, session);
      if (!slot.owners.has(owner)) this.#giveTo(slot, [owner]);
    }
  }

  #giveTo(slot: Slot, candidates: readonly MemoryLogSession[]): void {
    if (candidates.length === 0) return;
    const session = pick(this.#world.random, candidates);
    slot.owners.add(session);
    session.assign({ assigned: [slot.partition], lost: [] });
  }

  #take(slot: Slot, session: MemoryLogSession): void {
    if (slot.owners.delete(session)) session.assign({ assigned: [], lost: [slot.partition] });
  }

  #candidates({ subscription }: Slot): readonly MemoryLogSession[] {
    const { sessions } = this.#world.log;
    return sessions.filter((session) => session.subscription === subscription && !this.#gone.has(session));
  }

  #all(): readonly Slot[] {
    const { log } = this.#world;
    for (const { subscription, topics } of log.sessions) {
      for (const topic of topics) {
        for (const { partition: number } of log.partitionsOf(topic)) {
          const partition = { topic, partition: number };
          const key = `${subscription} ${partitionKey(partition)}`;
          if (!this.#slots.has(key)) this.#slots.set(key, { subscription, partition, owners: new Set() });
        }
      }
    }
    const slots = [...this.#slots.values()];
    // Sessions that stopped by themselves have left.
    for (const { owners } of slots) {
      for (const session of owners) if (session.isStopped) owners.delete(session);
    }
    return slots;
  }
}
