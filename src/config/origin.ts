import type { KeyPath } from './config-key.ts';

/** Where a value came from. Later ones win, in this order. */
export type Origin =
  | { readonly kind: 'default' }
  | { readonly kind: 'file'; readonly file: string; readonly line: number | undefined }
  | { readonly kind: 'environment'; readonly variable: string }
  | { readonly kind: 'flag'; readonly flag: string };

export function formatOrigin(origin: Origin): string {
  switch (origin.kind) {
    case 'default':
      return 'default';
    case 'file':
      return origin.line === undefined ? origin.file : `${origin.file}:${origin.line}`;
    case 'environment':
      return origin.variable;
    case 'flag':
      return origin.flag;
  }
}

/** One value as somebody gave it, not yet looked at. */
export type Given = { readonly path: KeyPath; readonly value: unknown; readonly origin: Origin };
