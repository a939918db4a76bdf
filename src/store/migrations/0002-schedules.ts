import type { Migration } from './migration.ts'

/** A slot's key is what makes a second run of it impossible: it is written before anything runs. */
export const schedules: Migration = {
  version: 2,
  name: 'schedules',
  statements: ({ clustered }) => [
    `CREATE TABLE schedules (
      id TEXT NOT NULL PRIMARY KEY,
      source TEXT NOT NULL CHECK (source IN ('config', 'command')),
      definition TEXT NOT NULL,
      creator TEXT,
      created_at BIGINT NOT NULL,
      updated_at BIGINT NOT NULL,
      paused INTEGER NOT NULL DEFAULT 0,
      evaluated_to BIGINT NOT NULL
    )`,
    `CREATE TABLE schedule_slots (
      schedule_id TEXT NOT NULL,
      slot_at BIGINT NOT NULL,
      state TEXT NOT NULL CHECK (state IN ('claimed', 'done', 'skipped', 'failed')),
      at BIGINT NOT NULL,
      trace_id TEXT,
      turn_id TEXT,
      outcome TEXT,
      reading TEXT,
      ended_at BIGINT,
      PRIMARY KEY (schedule_id, slot_at)
    )${clustered}`,
    'CREATE INDEX schedule_slots_by_trace ON schedule_slots (trace_id) WHERE trace_id IS NOT NULL',
    "CREATE INDEX schedule_slots_claimed ON schedule_slots (schedule_id, slot_at) WHERE state = 'claimed'",
  ],
}
