import { TidemarkError } from './errors.ts';

/** A file or database was written by a newer version of this package. */
export class SchemaNewerError extends TidemarkError {
  readonly code = 'SCHEMA_NEWER';

  /** `place` as a sentence begins with it: `The file a.db`. */
  constructor(place: string, { schema, known }: { readonly schema: number; readonly known: number }) {
    super(`${place} has schema ${schema}; this version of Tidemark knows up to ${known}.`, {
      details: { place, schema, known },
      hint: 'Run the newer version that wrote it. There is no way back to an older schema.',
    });
  }
}
