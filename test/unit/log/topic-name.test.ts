import { expect, test } from 'vitest';
import { topicName } from '../../../src/log/topic-name.ts';

test('a topic is named by prefix, alias, aggregate and kind', () => {
  expect(topicName({ alias: 'example', aggregate: 'order', kind: 'state' })).toBe('wow.example.order.state');
  expect(topicName({ prefix: '', alias: 'eshop', aggregate: 'brand', kind: 'event' })).toBe('eshop.brand.event');
});
