import type { SQLInputValue, SQLOutputValue, StatementSync } from 'node:sqlite';
import { AssertionError } from '../../../runtime/assert.ts';

/** One row of a statement that returns arrays. */
export type Columns = readonly SQLOutputValue[];

/** Rows as arrays, one at a time; leaving the loop ends the read. The statement must return arrays. */
export function eachRow(statement: StatementSync, ...parameters: SQLInputValue[]): Iterable<Columns> {
  return statement.iterate(...parameters) as unknown as Iterable<Columns>;
}

/** All rows as arrays. The statement must return arrays. */
export function allRows(statement: StatementSync, ...parameters: SQLInputValue[]): readonly Columns[] {
  return statement.all(...parameters) as unknown as readonly Columns[];
}

/** The first row as an array. The statement must return arrays. */
export function oneRow(statement: StatementSync, ...parameters: SQLInputValue[]): Columns | undefined {
  return statement.get(...parameters) as unknown as Columns | undefined;
}

export function integerOf(column: SQLOutputValue | undefined): number {
  if (typeof column !== 'number') throw unexpected('a number', column);
  return column;
}

export function textOf(column: SQLOutputValue | undefined): string {
  if (typeof column !== 'string') throw unexpected('text', column);
  return column;
}

export function optionalTextOf(column: SQLOutputValue | undefined): string | undefined {
  return column === null || column === undefined ? undefined : textOf(column);
}

export function optionalIntegerOf(column: SQLOutputValue | undefined): number | undefined {
  return column === null || column === undefined ? undefined : integerOf(column);
}

/** Made only when it is thrown: these run for each column of each record. */
function unexpected(what: string, column: SQLOutputValue | undefined): AssertionError {
  return new AssertionError(`Assumption broken: the column holds ${what}`, { details: { type: typeof column } });
}
