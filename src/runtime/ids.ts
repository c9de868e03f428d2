/** Where new identifiers come from. */
export interface Ids {
  /** An identifier that no other call, process or machine gives. */
  next(): string;
}
