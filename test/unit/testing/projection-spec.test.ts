import { aggregate, DefinitionError, into, type Projection, projection, readModel } from 'tidemark';
import { commit, projectionSpec } from 'tidemark/testing';
import { describe, expect, test } from 'vitest';

type State = { readonly owner: string; readonly points: number };
type Events = { joined: { readonly owner: string }; scored: { readonly points: number } };

const Player = aggregate<State, Events>('game.player');
const PlayerEvents = aggregate<never, Events>('game.player', { topic: 'event' });
const Scores = readModel<{ readonly points: number; readonly note?: string | undefined }>('scores');

const scores = projection('Scores', {
  onEvent: into(
    Scores,
    Player.onState(({ ref, state }) => Scores.put([ref.tenantId, ref.id], { points: state.points, note: undefined })),
  ),
});

function scored(id: string, version: number, points: number) {
  return commit(Player, {
    id,
    version,
    events: [{ name: 'scored', body: { points } }],
    state: { owner: 'ann', points },
  });
}

/** What the expectation rejects with. */
async function rejection(expectation: Promise<void>): Promise<string> {
  const error: unknown = await expectation.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toMatchObject({ name: 'AssertionError' });
  return error instanceof Error ? error.message : '';
}

describe('expectRows', () => {
  const given = projectionSpec(scores).whenCommit(scored('p-1', 1, 10), scored('p-2', 1, 20), scored('p-1', 2, 15));

  test('takes the rows in any order, members that are undefined left out', async () => {
    await given.expectRows(Scores, [{ points: 20 }, { points: 15, note: undefined }]);
  });

  test('takes rows by their ids, in parts or whole', async () => {
    await given.expectRows(
      Scores,
      new Map<string | readonly string[], object>([
        [['(0)', 'p-2'], { points: 20 }],
        ['(0)/p-1', { points: 15 }],
      ]),
    );
  });

  test.each([
    ['a row with another value', [{ points: 15 }, { points: 21 }]],
    ['a row too few', [{ points: 15 }]],
    ['a row too many', [{ points: 15 }, { points: 15 }, { points: 20 }]],
    ['a row under another id', new Map([['p-1', { points: 15 }]])],
  ])('rejects %s', async (_what, rows) => {
    expect(await rejection(given.expectRows(Scores, rows))).toContain('The rows of scores are not those expected.');
  });

  test('rejects a read model that the projection does not write', async () => {
    const other = readModel<{ readonly points: number }>('other');
    expect(await rejection(given.expectRows(other, []))).toContain('does not write the read model other');
  });

  test('looks at all commits given so far', async () => {
    const spec = projectionSpec(scores).whenCommit(scored('p-1', 1, 10));
    await spec.expectRows(Scores, [{ points: 10 }]);
    spec.whenCommit(scored('p-1', 2, 11));
    await spec.expectRows(Scores, [{ points: 11 }]);
    expect(await spec.rows(Scores)).toEqual([{ id: '(0)/p-1', row: { points: 11 } }]);
  });
});

describe('expectNoError', () => {
  test('names the cause and the position of what was parked, and what waits behind it', async () => {
    const failing = projection('Failing', {
      onEvent: into(
        Scores,
        Player.on('scored', ({ ref, body }) => {
          if (body.points === 13) throw new TypeError('unlucky', { cause: new Error('superstition') });
          return Scores.put([ref.id], { points: body.points });
        }),
      ),
    });
    const spec = projectionSpec(failing).whenCommit(scored('p-1', 1, 1), scored('p-1', 2, 13), scored('p-1', 3, 3));
    const message = await rejection(spec.expectNoError());
    expect(message).toContain('there were 2');
    expect(message).toContain('Failing.onEvent parked version 2 of game.player/(0)/p-1 (wow.game.player.state,');
    expect(message).toContain('offset 1): TypeError');
    expect(message).toContain('unlucky, caused by Error: superstition');
    expect(message).toContain('version 3 of game.player/(0)/p-1');
    await spec.expectRows(Scores, [{ points: 1 }]);
    expect(await rejection(spec.expectRows(Scores, []))).toContain('unlucky');
  });

  test('notices a row id that is no function of the ref', async () => {
    const byOwner = projection('ByOwner', {
      onEvent: into(
        Scores,
        Player.onState(({ state }) => Scores.put([state.owner], { points: state.points })),
      ),
    });
    const commits = ['ann', 'ben'].map((owner, place) =>
      commit(Player, {
        id: 'p-1',
        version: place + 1,
        events: [{ name: 'joined', body: { owner } }],
        state: { owner, points: 1 },
      }),
    );
    const message = await rejection(
      projectionSpec(byOwner)
        .whenCommit(...commits)
        .expectNoError(),
    );
    expect(message).toContain('game.player/(0)/p-1 wrote row ann of scores at version 1 and row ben at version 2');
  });

  test('lets a row move where the read model says that rows move', async () => {
    const Moving = readModel<{ readonly points: number }>('moving_scores', { moves: true });
    const byOwner = projection('ByOwner', {
      onEvent: into(
        Moving,
        Player.onState(({ state }) => Moving.put([state.owner], { points: state.points })),
      ),
    });
    const spec = projectionSpec(byOwner, { twice: true }).whenCommit(scored('p-1', 1, 1));
    spec.whenCommit(
      commit(Player, {
        id: 'p-1',
        version: 2,
        events: [{ name: 'joined', body: { owner: 'ben' } }],
        state: { owner: 'ben', points: 2 },
      }),
    );
    await spec.expectNoError();
    await spec.expectRows(Moving, new Map([['ben', { points: 2 }]]));
  });

  test('lets an aggregate write several rows of one model, some of them in some commits', async () => {
    const several = projection('Several', {
      onEvent: into(
        Scores,
        Player.onState(({ ref, version, state }) =>
          Array.from({ length: version === 2 ? 1 : 2 }, (_, place) =>
            Scores.put([ref.id, String(place)], { points: state.points }),
          ),
        ),
      ),
    });
    const spec = projectionSpec(several).whenCommit(scored('p-1', 1, 1), scored('p-1', 2, 2), scored('p-1', 3, 3));
    await spec.expectNoError();
    await spec.expectRows(Scores, [{ points: 3 }, { points: 3 }]);
  });

  test('notices a handler that does not depend on its event alone', async () => {
    let calls = 0;
    const counting = projection('Counting', {
      onEvent: into(
        Scores,
        Player.onState(({ ref }) => Scores.put([ref.id], { points: (calls += 1) })),
      ),
    });
    const spec = projectionSpec(counting).whenCommit(scored('p-1', 1, 1));
    expect(await rejection(spec.expectNoError())).toContain('called twice for version 1');
  });
});

describe('a projection', () => {
  test('with wrong definitions rejects every expectation with all of them', async () => {
    const wrong = projection('Wrong', { onEvent: into([]) });
    await expect(projectionSpec(wrong).expectNoError()).rejects.toThrow(DefinitionError);
  });

  test('that follows event topics gets its commits there', async () => {
    const byEvents: Projection = projection('ByEvents', {
      onEvent: into(
        Scores,
        PlayerEvents.on('scored', ({ ref, body }) => Scores.put([ref.id], { points: body.points })),
      ),
    });
    const spec = projectionSpec(byEvents).whenCommit(
      commit(PlayerEvents, { id: 'p-1', events: [{ name: 'scored', body: { points: 5 } }] }),
    );
    await spec.expectNoError();
    await spec.expectRows(Scores, [{ points: 5 }]);
  });

  test('ignores commits of aggregates that it does not follow', async () => {
    const Other = aggregate<State, Events>('game.team');
    const spec = projectionSpec(scores).whenCommit(
      commit(Other, {
        id: 't-1',
        events: [{ name: 'joined', body: { owner: 'ann' } }],
        state: { owner: 'ann', points: 1 },
      }),
    );
    await spec.expectNoError();
    await spec.expectRows(Scores, []);
  });

  test('with several functions has all of them run', async () => {
    const Totals = readModel<{ readonly points: number }>('points_in_all', { kind: 'totals' });
    const both = projection('Both', {
      onScore: into(
        Scores,
        Player.onState(({ ref, state }) => Scores.put([ref.id], { points: state.points })),
      ),
      onTotal: into(
        Totals,
        Player.onState(({ state }) => Totals.contribute(state.owner, { points: state.points })),
      ),
    });
    const spec = projectionSpec(both, { twice: true, late: true, shuffled: true }).whenCommit(
      scored('p-1', 1, 1),
      scored('p-1', 2, 4),
      scored('p-2', 1, 10),
    );
    await spec.expectNoError();
    await spec.expectRows(Scores, [{ points: 4 }, { points: 10 }]);
    await spec.expectRows(Totals, [{ points: 14 }]);
  });
});
