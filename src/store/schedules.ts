import { ParleyError } from '../core/errors.ts'
import type { PersonId, ScheduleId, TraceId, TurnId } from '../core/ids.ts'
import type { Logger } from '../core/logger.ts'
import { isNoZone, machineZone } from '../core/machine-zone.ts'
import type {
  DigestReading,
  NewSchedule,
  NewSlot,
  Schedule,
  ScheduleDefinition,
  ScheduleSlot,
  SlotEnd,
  SlotState,
} from '../core/schedule.ts'
import {
  defined,
  fields,
  id,
  integer,
  isAddress,
  isNumber,
  isOneOf,
  isReader,
  isText,
  json,
  listOf,
  maybe,
  oneOf,
  optional,
  type RowCodec,
  readRow,
  readRows,
  shaped,
  text,
} from './rows.ts'
import type { ScheduleReader, ScheduleWriter } from './schedule-port.ts'
import type { RepositoryDeps, Sql, SqlValue } from './sql.ts'

const STATES: readonly SlotState[] = ['claimed', 'done', 'skipped', 'failed']
const COLUMNS = 'id, source, definition, creator, created_at, updated_at, paused, evaluated_to'
const SLOT_COLUMNS = 'schedule_id, slot_at, state, at, trace_id, turn_id, outcome, reading, ended_at'

const isTask = fields({
  ...{
    prompt: isText,
    deliverTo: isAddress,
    digestOf: maybe(isAddress),
    reader: maybe(isReader),
    timezone: maybe(isText),
  },
  ...{ overlap: isOneOf('skip', 'queue'), missed: fields({ kind: isOneOf('skip', 'once', 'all') }) },
  ...{ agent: maybe(isText), authors: maybe(listOf(isText)), askers: maybe(listOf(isText)) },
  ...{ addresses: maybe(listOf(isText)), madeIn: maybe(isText) },
})
const TIMINGS = [fields({ cron: isText }), fields({ at: isNumber }), fields({ every: isNumber, from: isNumber })]
const definitionIn = shaped<ScheduleDefinition>((value) => isTask(value) && TIMINGS.some((isTiming) => isTiming(value)))

const withZone = (definition: ScheduleDefinition): ScheduleDefinition =>
  isNoZone(definition.timezone) ? { ...definition, timezone: machineZone() } : definition

const codec: RowCodec<Schedule> = {
  table: 'schedules',
  key: ['id'],
  decode: (row) => ({
    id: id(row, 'id'),
    source: oneOf(row, 'source', ['config', 'command']),
    definition: withZone(definitionIn(row, 'definition')),
    createdAt: integer(row, 'created_at'),
    updatedAt: integer(row, 'updated_at'),
    paused: integer(row, 'paused') === 1,
    evaluatedTo: integer(row, 'evaluated_to'),
    ...defined({ creator: optional(row, 'creator', id<PersonId>) }),
  }),
}

const slotCodec: RowCodec<ScheduleSlot> = {
  table: 'schedule_slots',
  key: ['schedule_id', 'slot_at'],
  decode: (row) => ({
    scheduleId: id(row, 'schedule_id'),
    slotAt: integer(row, 'slot_at'),
    state: oneOf(row, 'state', STATES),
    at: integer(row, 'at'),
    ...defined({
      traceId: optional(row, 'trace_id', id<TraceId>),
      turnId: optional(row, 'turn_id', id<TurnId>),
      outcome: optional(row, 'outcome', text),
      reading: optional(row, 'reading', json<DigestReading>),
      endedAt: optional(row, 'ended_at', integer),
    }),
  }),
}

export class ScheduleReading implements ScheduleReader {
  protected readonly sql: Sql
  readonly #logger: Logger

  constructor({ sql, logger }: RepositoryDeps) {
    this.sql = sql
    this.#logger = logger
  }

  async get(scheduleId: ScheduleId): Promise<Schedule | undefined> {
    const row = await this.sql.get(`SELECT ${COLUMNS} FROM schedules WHERE id = $1`, [scheduleId])
    return row === undefined ? undefined : readRow(codec, row)
  }

  async all(): Promise<readonly Schedule[]> {
    return readRows(codec, await this.sql.all(`SELECT ${COLUMNS} FROM schedules ORDER BY id`, []), this.#logger)
  }

  claimed(): Promise<readonly ScheduleSlot[]> {
    return this.#slots("state = 'claimed' ORDER BY schedule_id, slot_at", [])
  }

  recent(scheduleId: ScheduleId, limit: number): Promise<readonly ScheduleSlot[]> {
    return this.#slots('schedule_id = $1 ORDER BY slot_at DESC LIMIT $2', [scheduleId, limit])
  }

  async lastDone(scheduleId: ScheduleId): Promise<ScheduleSlot | undefined> {
    const where = "schedule_id = $1 AND state = 'done' ORDER BY slot_at DESC LIMIT 1"
    return (await this.#slots(where, [scheduleId]))[0]
  }

  async #slots(where: string, params: readonly SqlValue[]): Promise<readonly ScheduleSlot[]> {
    const query = `SELECT ${SLOT_COLUMNS} FROM schedule_slots WHERE ${where}`
    return readRows(slotCodec, await this.sql.all(query, params), this.#logger)
  }
}

export class ScheduleWriting extends ScheduleReading implements ScheduleWriter {
  async put(schedule: NewSchedule, at: number, since = at): Promise<void> {
    await this.sql.run(
      `INSERT INTO schedules (id, source, definition, creator, created_at, updated_at, evaluated_to)
        VALUES ($1, $2, $3, $4, $5, $5, $6) ON CONFLICT (id) DO UPDATE SET source = excluded.source,
        definition = excluded.definition, creator = excluded.creator, updated_at = excluded.updated_at`,
      [schedule.id, schedule.source, JSON.stringify(schedule.definition), schedule.creator ?? null, at, since],
    )
  }

  async remove(scheduleId: ScheduleId): Promise<boolean> {
    return (await this.sql.run('DELETE FROM schedules WHERE id = $1', [scheduleId])) > 0
  }

  async setPaused(scheduleId: ScheduleId, paused: boolean, at: number): Promise<void> {
    const query = 'UPDATE schedules SET paused = $2, updated_at = $3 WHERE id = $1'
    const changed = await this.sql.run(query, [scheduleId, paused ? 1 : 0, at])
    if (changed === 0) throw new ParleyError('not_found', `there is no schedule ${scheduleId}`)
  }

  async setEvaluated(scheduleId: ScheduleId, to: number): Promise<void> {
    await this.sql.run('UPDATE schedules SET evaluated_to = $2 WHERE id = $1', [scheduleId, to])
  }

  async addSlot(slot: NewSlot): Promise<boolean> {
    const added = await this.sql.run(
      `INSERT INTO schedule_slots (schedule_id, slot_at, state, at, trace_id, outcome)
        VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (schedule_id, slot_at) DO NOTHING`,
      [slot.scheduleId, slot.slotAt, slot.state, slot.at, slot.traceId ?? null, slot.outcome ?? null],
    )
    return added > 0
  }

  async setReading(traceId: TraceId, reading: DigestReading): Promise<void> {
    const query = "UPDATE schedule_slots SET reading = $2 WHERE trace_id = $1 AND state = 'claimed'"
    await this.sql.run(query, [traceId, JSON.stringify(reading)])
  }

  async endSlot(traceId: TraceId, { state, outcome, at, turnId }: SlotEnd): Promise<boolean> {
    const query = `UPDATE schedule_slots SET state = $2, outcome = $3, ended_at = $4, turn_id = $5
      WHERE trace_id = $1 AND state = 'claimed'`
    return (await this.sql.run(query, [traceId, state, outcome, at, turnId ?? null])) > 0
  }

  async pruneSlots(scheduleId: ScheduleId, before: number): Promise<number> {
    const query = "DELETE FROM schedule_slots WHERE schedule_id = $1 AND slot_at < $2 AND state <> 'claimed'"
    return this.sql.run(query, [scheduleId, before])
  }
}
