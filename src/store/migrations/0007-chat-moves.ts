import type { Migration } from './migration.ts'

/** Chats that got a new id. The rows stay: rules and names that speak of the old id mean the new one from then on. */
export const chatMoves: Migration = {
  version: 7,
  name: 'chat-moves',
  statements: () => [
    `CREATE TABLE chat_moves (
      channel TEXT NOT NULL,
      from_chat TEXT NOT NULL,
      to_chat TEXT NOT NULL,
      moved_at BIGINT NOT NULL,
      PRIMARY KEY (channel, from_chat)
    )`,
  ],
}
