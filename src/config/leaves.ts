import type { z } from 'zod';
import { formatDuration, parseDuration } from '../runtime/duration.ts';
import { formatSize, parseSize } from '../runtime/size.ts';
import { leaf } from './leaf.ts';
import { Secret } from './secret.ts';

type Range = { readonly min: number; readonly max: number };

export const AT_LEAST_ONE: Range = { min: 1, max: Number.MAX_SAFE_INTEGER };

export function text(expects: string, description: string): z.ZodType<string> {
  return leaf({
    expects,
    description,
    parse: (value) => (typeof value === 'string' && value !== '' ? value : undefined),
    format: String,
    jsonSchema: { type: 'string', minLength: 1 },
  });
}

export function choice<const T extends string>(values: readonly T[], description: string): z.ZodType<T> {
  return leaf({
    expects: values.length === 1 ? values.join() : `one of ${values.join(', ')}`,
    description,
    parse: (value) => values.find((one) => one === value),
    format: String,
    jsonSchema: { enum: values },
  });
}

/** An integer. Texts of digits are read too: variables, flags and `${…}` have nothing else. */
export function count({ min, max }: Range, description: string): z.ZodType<number> {
  return leaf({
    expects: max === Number.MAX_SAFE_INTEGER ? `an integer of at least ${min}` : `an integer from ${min} to ${max}`,
    description,
    parse(value) {
      const number = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value;
      return typeof number === 'number' && Number.isSafeInteger(number) && number >= min && number <= max
        ? number
        : undefined;
    },
    format: String,
    jsonSchema: { anyOf: [{ type: 'integer', minimum: min, maximum: max }, { type: 'string' }] },
  });
}

export function duration(description: string, minMs = 0): z.ZodType<number> {
  return leaf({
    expects: 'a duration with its unit, such as 20ms, 30s or 5m',
    description,
    parse: (value) => atLeast(minMs, typeof value === 'string' ? parseDuration(value) : undefined),
    format: formatDuration,
    jsonSchema: { type: 'string', examples: ['20ms', '30s', '5m'] },
  });
}

export function size(description: string): z.ZodType<number> {
  return leaf({
    expects: 'a size with its unit, such as 512KiB or 8MiB',
    description,
    parse: (value) => atLeast(1, typeof value === 'string' ? parseSize(value) : undefined),
    format: formatSize,
    jsonSchema: { type: 'string', examples: ['512KiB', '8MiB'] },
  });
}

function atLeast(min: number, value: number | undefined): number | undefined {
  return value === undefined || value < min ? undefined : value;
}

const address = /^(\[[0-9a-fA-F:.]+\]|[^\s:,/]+):(\d{1,5})$/;

/** Addresses of servers: a list, or parted by commas. */
export function addresses(expects: string, description: string): z.ZodType<readonly string[]> {
  return leaf<readonly string[]>({
    expects,
    description,
    parse(value) {
      const items: readonly unknown[] = Array.isArray(value) ? value : [value];
      const all = items.flatMap((item) =>
        typeof item === 'string' ? item.split(',').map((part) => part.trim()) : [''],
      );
      const isGood = all.every((part) => Number(address.exec(part)?.[2] ?? 65_536) < 65_536);
      return all.length > 0 && isGood ? all : undefined;
    },
    format: (value) => value.join(','),
    jsonSchema: { anyOf: [{ type: 'array', items: { type: 'string' }, minItems: 1 }, { type: 'string' }] },
  });
}

/** True or false; texts are read too. */
export function flag(description: string): z.ZodType<boolean> {
  return leaf<boolean>({
    expects: 'true or false',
    description,
    parse: (value) =>
      value === true || value === 'true' ? true : value === false || value === 'false' ? false : undefined,
    format: String,
    jsonSchema: { anyOf: [{ type: 'boolean' }, { enum: ['true', 'false'] }] },
  });
}

/** A text that is never shown. */
export function secretText(description: string): z.ZodType<Secret> {
  return leaf<Secret>({
    expects: 'a secret text',
    description,
    parse: (value) => (typeof value === 'string' && value !== '' ? new Secret(value) : undefined),
    format: String,
    jsonSchema: { type: 'string' },
    isSecret: true,
  });
}

/** A URL of MongoDB; user and password in it are never shown. */
export function mongodbUrl(description: string): z.ZodType<Secret> {
  return leaf<Secret>({
    expects: 'a URL that starts with mongodb:// or mongodb+srv://',
    description,
    parse: (value) =>
      typeof value === 'string' && /^mongodb(\+srv)?:\/\/./.test(value) ? new Secret(value) : undefined,
    format: (value) => value.reveal().replace(/\/\/[^/]*@/, '//[redacted]@'),
    jsonSchema: { type: 'string', pattern: '^mongodb(\\+srv)?://' },
    isSecret: true,
  });
}
