import { TidemarkError } from '../runtime/errors.ts';
import { formatOrigin, type Origin } from './origin.ts';

/** One mistake in a config. */
export type ConfigProblem = {
  readonly path: string;
  readonly expected: string;
  readonly got: string;
  readonly origin: Origin;
};

/** `path: expected …, got … (where it stands)` */
export function formatProblem({ path, expected, got, origin }: ConfigProblem): string {
  const place = origin.kind === 'default' ? '' : ` (${formatOrigin(origin)})`;
  return `${path}: expected ${expected}, got ${got}${place}`;
}

/** The config cannot be used. `problems` lists all that is wrong, not only the first mistake. */
export class ConfigError extends TidemarkError {
  readonly code = 'CONFIG_INVALID';
  readonly problems: readonly ConfigProblem[];

  constructor(problems: readonly ConfigProblem[]) {
    const lines = problems.map(formatProblem);
    super(
      `The config has ${problems.length === 1 ? 'a problem' : `${problems.length} problems`}:\n- ${lines.join('\n- ')}`,
      {
        details: { problems: lines },
        hint: 'Correct what is listed; tidemark config schema prints what may stand in the file.',
      },
    );
    this.problems = problems;
  }
}

/** The config file is not there or cannot be read. */
export class ConfigUnreadableError extends TidemarkError {
  readonly code = 'CONFIG_UNREADABLE';
}

const SHOWN_MAX = 60;

/** A value as a message shows it: short, and never the inside of a section. */
export function describeValue(value: unknown): string {
  if (value === undefined || value === null) return 'nothing';
  if (Array.isArray(value)) return cut(`[${value.map(describeValue).join(', ')}]`);
  if (typeof value === 'object') return 'a section';
  // What YAML has besides: texts, truth values and numbers, also those that JSON does not know.
  const text = typeof value === 'number' ? String(value) : JSON.stringify(value);
  return cut(text);
}

function cut(text: string): string {
  return text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX)}…` : text;
}
