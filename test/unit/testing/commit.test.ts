import { aggregate } from 'tidemark';
import { commit } from 'tidemark/testing';
import { describe, expect, test } from 'vitest';
import { jsonCommitCodec } from '../../../src/log/json-commit-codec.ts';

type Events = { opened: { readonly by: string }; closed: { readonly reason: string } };

const Ticket = aggregate<{ readonly isOpen: boolean }, Events>('desk.ticket');
const TicketEvents = aggregate<never, Events>('desk.ticket', { topic: 'event' });
const opened = { name: 'opened', body: { by: 'ann' } } as const;

function decoded(record: { readonly aggregateId: string }) {
  const at = { topic: 't', partition: 0, offset: 0, timestamp: 0, headers: [] };
  return jsonCommitCodec().decode({ ...at, key: record.aggregateId, value: JSON.stringify(record) });
}

describe('a commit made for a test', () => {
  test('is a record that the codec reads back', () => {
    const record = commit(Ticket, {
      id: 'ticket-1',
      version: 3,
      tenantId: 'acme',
      ownerId: 'ann',
      spaceId: 'desk-2',
      tags: { channel: ['phone'] },
      deleted: true,
      header: { traceparent: '00-0-0-01' },
      commitTime: 1_770_000_000_000,
      commitId: 'c-1',
      events: [opened, { name: 'closed', body: { reason: 'done' }, revision: '1.2.0' }],
      state: { isOpen: false },
    });
    expect(decoded(record)).toMatchObject({
      kind: 'commit',
      commit: {
        id: 'c-1',
        ref: { context: 'desk', aggregate: 'ticket', tenantId: 'acme', id: 'ticket-1' },
        version: 3,
        ownerId: 'ann',
        spaceId: 'desk-2',
        tags: { channel: ['phone'] },
        deleted: true,
        header: { traceparent: '00-0-0-01' },
        createTime: 1_770_000_000_000,
        hasState: true,
        state: { isOpen: false },
        events: [
          { name: 'opened', body: { by: 'ann' }, revision: '0.0.1' },
          { name: 'closed', body: { reason: 'done' }, revision: '1.2.0' },
        ],
      },
    });
  });

  test('needs no more than an id, events and a state', () => {
    const record = commit(Ticket, { id: 'ticket-1', events: [opened], state: { isOpen: true } });
    expect(record).toMatchObject({ version: 1, tenantId: '(0)', ownerId: '', deleted: false });
    expect(decoded(record).kind).toBe('commit');
  });

  test('is the same one when it is made again, and another one for another version', () => {
    const fields = { id: 'ticket-1', events: [opened], state: { isOpen: true } } as const;
    expect(commit(Ticket, fields)).toEqual(commit(Ticket, fields));
    expect(commit(Ticket, { ...fields, version: 2 }).id).not.toBe(commit(Ticket, fields).id);
  });

  test('has no state where the aggregate is followed by its events', () => {
    const record = commit(TicketEvents, { id: 'ticket-1', events: [opened] });
    expect(record).not.toHaveProperty('state');
    expect(decoded(record)).toMatchObject({ kind: 'commit', commit: { hasState: false } });
  });
});
