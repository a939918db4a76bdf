import type { Migration } from './migration.ts'

/** The messages with buttons that are to be closed once their question is over. */
export const cards: Migration = {
  version: 28,
  name: 'cards',
  statements: () => ['CREATE TABLE cards (subject TEXT NOT NULL, source TEXT NOT NULL, PRIMARY KEY (subject, source))'],
}
