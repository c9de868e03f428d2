import { messageOf, TidemarkError } from '../runtime/errors.ts';

/** A file that a setting names cannot be read. */
export class ConfigFileError extends TidemarkError {
  readonly code = 'CONFIG_UNREADABLE';

  constructor(setting: string, path: string, cause: unknown) {
    super(`The file ${path} of ${setting} cannot be read: ${messageOf(cause)}`, {
      details: { setting, file: path },
      hint: `Correct ${setting}: it is relative to the current folder.`,
      cause,
    });
  }
}
