import { describe, expect, test } from 'vitest';
import { loadConfig } from '../../../src/config/load.ts';
import { configJsonSchema, printConfig } from '../../../src/config/print.ts';

describe('a printed config', () => {
  test('has every effective value with its origin, as one would write it', async () => {
    const config = await loadConfig({
      file: undefined,
      environment: { TIDEMARK_DRAIN: '90s', TIDEMARK_SUBSCRIPTIONS__A__b__START: 'end' },
      flags: [{ key: 'embedded.file', value: 'x.db', flag: '--file' }],
      folder: '/here',
    });
    const printed = printConfig(config);
    expect(printed).toContainEqual({ key: 'drain', value: '1m30s', origin: 'TIDEMARK_DRAIN' });
    expect(printed).toContainEqual({ key: 'embedded.file', value: '/here/x.db', origin: '--file' });
    expect(printed).toContainEqual({ key: 'embedded.partitions', value: '4', origin: 'default' });
    expect(printed).toContainEqual({ key: 'defaults.transaction.bytes', value: '8MiB', origin: 'default' });
    expect(printed).toContainEqual({
      key: 'subscriptions.A.b.start',
      value: 'end',
      origin: 'TIDEMARK_SUBSCRIPTIONS__A__b__START',
    });
    expect(printed.map(({ key }) => key)).not.toContain('app');
    expect(printed.filter(({ key }) => key.startsWith('subscriptions.'))).toHaveLength(1);
  });
});

describe('the schema for editors', () => {
  test('describes settings with their defaults and refuses unknown keys', () => {
    const schema = configJsonSchema();
    expect(schema).toMatchObject({
      type: 'object',
      additionalProperties: false,
      properties: {
        drain: { type: 'string', default: '30s' },
        logs: { properties: { level: { enum: ['debug', 'info', 'warn', 'error', 'silent'], default: 'info' } } },
        subscriptions: {
          additionalProperties: { additionalProperties: false, properties: { start: { type: 'string' } } },
        },
      },
    });
    expect(schema).toHaveProperty(['properties', 'drain', 'description'], expect.stringContaining('a stop may take'));
    expect(schema).not.toHaveProperty('required');
  });
});
