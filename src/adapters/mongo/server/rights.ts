import { randomBytes } from 'node:crypto';
import { Binary } from 'mongodb';
import type { MongoDatabase } from './mongo-database.ts';
import { hasCode, MongoCode, RightsMissingError } from './mongo-error.ts';

/** What a worker does to its database. */
const neededActions = [
  'find',
  'insert',
  'update',
  'remove',
  'createCollection',
  'createIndex',
  'dropIndex',
  'listCollections',
  'listIndexes',
] as const;

/** A privilege as the server lists it. */
export type Privilege = {
  readonly resource: { readonly db?: string; readonly collection?: string; readonly anyResource?: boolean };
  readonly actions: readonly string[];
};

type ConnectionStatus = {
  readonly authInfo: {
    readonly authenticatedUsers: readonly unknown[];
    readonly authenticatedUserPrivileges: readonly Privilege[];
  };
};

/** Actions that none of the privileges allows on all collections of the database. */
export function missingActions(privileges: readonly Privilege[], database: string): readonly string[] {
  const allowed = new Set(
    privileges
      .filter(({ resource: { db, collection, anyResource } }) => {
        return anyResource === true || (collection === '' && (db === '' || db === database));
      })
      .flatMap(({ actions }) => actions),
  );
  return allowed.has('anyAction') ? [] : neededActions.filter((action) => !allowed.has(action));
}

/** What the user of the connection may not do but must; nothing where the server controls no access. */
export async function missingRights({ db }: MongoDatabase): Promise<readonly string[]> {
  const status = await db.admin().command({ connectionStatus: 1, showPrivileges: true });
  const { authenticatedUsers, authenticatedUserPrivileges } = (status as unknown as ConnectionStatus).authInfo;
  const actions = authenticatedUsers.length === 0 ? [] : missingActions(authenticatedUserPrivileges, db.databaseName);
  return (await canKillSessions(db)) ? actions : [...actions, 'killSessions'];
}

/** Throws `RIGHTS_MISSING` with all that is missing. */
export async function assertRights(database: MongoDatabase): Promise<void> {
  const missing = await missingRights(database);
  if (missing.length === 0) return;
  const name = database.db.databaseName;
  throw new RightsMissingError(
    `The user of the MongoDB connection may not do this to ${name}: ${missing.join(', ')}.`,
    {
      details: { database: name, missing },
      hint: 'Grant the role readWrite on the database, and killSessions if it is listed: everybody may end sessions of their own.',
    },
  );
}

/** Tried on a session that does not exist. A take-over depends on it. */
async function canKillSessions(db: MongoDatabase['db']): Promise<boolean> {
  try {
    const id = new Binary(randomBytes(16), Binary.SUBTYPE_UUID);
    await db.admin().command({ killSessions: [{ id }] });
    return true;
  } catch (error) {
    if (hasCode(error, MongoCode.unauthorized)) return false;
    throw error;
  }
}
