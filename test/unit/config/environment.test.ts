import { describe, expect, test } from 'vitest';
import { ANY_NAME, formatPath, keysOf } from '../../../src/config/config-key.ts';
import { readEnvironment, variableOf } from '../../../src/config/environment.ts';
import { configSchema } from '../../../src/config/schema.ts';

describe('the variable of a setting', () => {
  test('is its path in capitals', () => {
    expect(variableOf(['embedded', 'file'])).toBe('TIDEMARK_EMBEDDED_FILE');
    expect(variableOf(['defaults', 'transaction', 'liveDocuments'])).toBe(
      'TIDEMARK_DEFAULTS_TRANSACTION_LIVE_DOCUMENTS',
    );
    expect(variableOf(['subscriptions', ANY_NAME, 'batch', 'wait'], 'Order.onEvent')).toBe(
      'TIDEMARK_SUBSCRIPTIONS__Order__onEvent__BATCH_WAIT',
    );
  });

  test('is read back to exactly that setting, for every setting', () => {
    const keys = keysOf(configSchema).map(({ path }) => path);
    expect(keys.length).toBeGreaterThan(20);
    for (const path of keys) {
      const name = 'OrderSummaryProjection.onEvent';
      const { given, problems } = readEnvironment({ [variableOf(path, name)]: 'x' }, configSchema);
      expect(problems).toEqual([]);
      expect(given.map((one) => formatPath(one.path))).toEqual([formatPath(path).replace(ANY_NAME, name)]);
    }
  });

  test('of a subscription needs both parts of its name', () => {
    const { problems } = readEnvironment({ TIDEMARK_SUBSCRIPTIONS__OrderSummary__START: 'end' }, configSchema);
    expect(problems).toHaveLength(1);
  });
});
