import type { Migration } from './migration.ts'

/** The questions to people of conversations, and their answers. */
export const questions: Migration = {
  version: 31,
  name: 'questions',
  statements: () => [
    `CREATE TABLE questions (
      code TEXT PRIMARY KEY,
      session_id TEXT NOT NULL,
      turn_id TEXT NOT NULL,
      call_id TEXT NOT NULL,
      part BIGINT NOT NULL,
      trace_id TEXT NOT NULL,
      text TEXT NOT NULL,
      choices TEXT NOT NULL,
      free TEXT,
      server TEXT,
      reply TEXT NOT NULL,
      addressee TEXT,
      asked_at BIGINT NOT NULL,
      state TEXT NOT NULL CHECK (state IN ('asked', 'answered', 'told', 'ended')),
      late BIGINT NOT NULL DEFAULT 0,
      answer TEXT,
      choice BIGINT,
      answered_by TEXT,
      UNIQUE (turn_id, call_id, part)
    )`,
    'CREATE INDEX questions_by_time ON questions (asked_at)',
    'CREATE INDEX questions_of_session ON questions (session_id)',
  ],
}
