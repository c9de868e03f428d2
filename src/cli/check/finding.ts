import { TidemarkError, UnavailableError } from '../../runtime/errors.ts';

/** `problem`: must be put right; `note`: worth knowing. */
export type Finding = { readonly level: 'problem' | 'note'; readonly what: string; readonly finding: string };

/** What `look` finds; a refusal is a finding too, an outage is not. */
export async function orRefusal(what: string, look: () => Promise<readonly Finding[]>): Promise<readonly Finding[]> {
  try {
    return await look();
  } catch (error) {
    if (!(error instanceof TidemarkError) || error instanceof UnavailableError) throw error;
    return [{ level: 'problem', what, finding: [error.message, error.hint ?? ''].join(' ').trim() }];
  }
}
