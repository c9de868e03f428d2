import { describe, expect, test } from 'vitest';
import { type PinoLoggerOptions, pinoLogger } from '../../../../src/adapters/node/pino-logger.ts';
import { UnavailableError } from '../../../../src/runtime/errors.ts';
import type { Logger } from '../../../../src/runtime/logger.ts';

function logged(options: Partial<PinoLoggerOptions>, log: (logger: Logger) => void): readonly string[] {
  const lines: string[] = [];
  log(pinoLogger({ level: 'info', format: 'json', ...options, destination: { write: (line) => lines.push(line) } }));
  return lines;
}

describe('a JSON log line', () => {
  test('is one object with level, time, sentence and fields', () => {
    const lines = logged({}, (logger) => logger.child({ subscription: 'A.b' }).warn('It waits.', { offset: 5n }));
    expect(lines).toHaveLength(1);
    expect(lines[0]?.endsWith('\n')).toBe(true);
    expect(JSON.parse(lines[0] ?? '')).toEqual({
      level: 'warn',
      time: expect.stringMatching(/^\d{4}-.*Z$/) as unknown,
      subscription: 'A.b',
      offset: 5,
      msg: 'It waits.',
    });
  });

  test('holds an error with its code, hint and stack', () => {
    const error = new UnavailableError('The store is down', { hint: 'Start it.' });
    const [line] = logged({}, (logger) => logger.error('It failed.', { error }));
    expect(JSON.parse(line ?? '')).toMatchObject({
      error: {
        code: 'UNAVAILABLE',
        message: 'The store is down',
        hint: 'Start it.',
        stack: expect.stringContaining('at ') as unknown,
      },
    });
  });

  test("has each name once, the line's own value winning", () => {
    const [line = ''] = logged({}, (logger) => logger.child({ partition: 1, topic: 't' }).info('A.', { partition: 2 }));
    expect(line.match(/"partition"/g)).toHaveLength(1);
    expect(JSON.parse(line)).toMatchObject({ partition: 2, topic: 't' });
  });

  test('is written for a thrown value of any kind', () => {
    const circular: Record<string, unknown> = {};
    circular['self'] = circular;
    const lines = logged({}, (logger) => {
      for (const error of [undefined, null, 'text', 5, circular, Symbol('x')]) logger.error('It failed.', { error });
    });
    expect(lines).toHaveLength(6);
  });
});

test('lines below the level are not written', () => {
  const log = (logger: Logger) => {
    logger.debug('a');
    logger.info('b');
    logger.error('c');
  };
  expect(logged({ level: 'debug' }, log)).toHaveLength(3);
  expect(logged({ level: 'info' }, log)).toHaveLength(2);
  expect(logged({ level: 'silent' }, log)).toHaveLength(0);
});

test('a line for people has no colour codes unless asked for', () => {
  const log = (logger: Logger) => logger.info('It follows.', { partition: 2 });
  const [plain = ''] = logged({ format: 'pretty' }, log);
  expect(plain).toMatch(/INFO.*It follows\. \{"partition":2\}\n/);
  expect(plain).not.toContain('\u001b');
  expect(logged({ format: 'pretty', isColored: true }, log)[0]).toContain('\u001b[');
});
