/** Chance as the core sees it. */
export interface Random {
  /** A number in [0, 1). */
  next(): number;
}
