import { copyFileSync, existsSync, mkdirSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { ForgottenAgain } from '../core/backup.ts'
import type { Channels } from '../core/channel-traits.ts'
import type { Clock } from '../core/clock.ts'
import { addCounts, type ForgetCounts, type ForgetPlan, NOTHING_FORGOTTEN } from '../core/forgetting.ts'
import type { SessionId } from '../core/ids.ts'
import { silentLogger } from '../core/logger.ts'
import type { StoreKey } from '../core/store-key.ts'
import { createMediaStore, type OwnMediaStore } from '../media/media-store.ts'
import { letGo } from '../schedule/let-go.ts'
import { createForgetting, type ForgettingService } from '../sessions/forgetting/forgetting.ts'
import { markGone, purgeSession } from '../sessions/service/delete-session.ts'
import { identify, SCHEMA, withRows } from '../store/engines/snapshot.ts'
import { openSqliteStore } from '../store/engines/sqlite.ts'
import { formOf } from '../store/engines/sqlite-form.ts'
import type { Store } from '../store/store.ts'
import { type LaterRemovals, laterRemovals } from './later-removals.ts'

export interface ForgetAgainDeps {
  readonly key: StoreKey | undefined
  readonly channels: Channels
  readonly clock: Clock
}

/**
 * Removes from a store that was put back, whose files lie beside it, what a newer state of the same store had removed
 * since. Resolves with what was removed; undefined where this program does not know the schema of the newer state.
 */
export async function forgetAgain(
  deps: ForgetAgainDeps,
  path: string,
  newer: string,
): Promise<ForgottenAgain | undefined> {
  const key = keyOf(path, deps.key)
  const { clock, channels } = deps
  const { caseSensitive } = channels
  const store = await openSqliteStore({ path, key, clock, logger: silentLogger, caseSensitive })
  try {
    const removals = await compare(deps, path, newer)
    return removals && (await removeAgain({ ...deps, key, store, path }, removals))
  } finally {
    await store.close()
  }
}

/** An encrypted file is read with the key, a plain one without, whatever the configuration asks for now. */
function keyOf(path: string, key: StoreKey | undefined): StoreKey | undefined {
  return formOf(path) === 'encrypted' ? key : undefined
}

async function compare(deps: ForgetAgainDeps, path: string, newer: string): Promise<LaterRemovals | undefined> {
  const key = keyOf(newer, deps.key)
  const { schema } = identify(newer, key)
  if (schema > SCHEMA) return undefined
  const current = schema === SCHEMA ? newer : await upgradedCopy(deps, path, newer)
  try {
    return withRows(path, keyOf(path, deps.key), (older) =>
      withRows(current, key, (later) => laterRemovals(older, later)),
    )
  } finally {
    if (current !== newer) rmSync(dirname(current), { recursive: true, force: true })
  }
}

/** The rows of an older schema are read from a copy that has the present one. */
async function upgradedCopy({ key, clock }: ForgetAgainDeps, path: string, newer: string): Promise<string> {
  const folder = join(dirname(path), 'newer')
  const copy = join(folder, basename(newer))
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { mode: 0o700 })
  for (const side of ['', '-wal']) if (existsSync(newer + side)) copyFileSync(newer + side, copy + side)
  await (await openSqliteStore({ path: copy, key: keyOf(copy, key), clock, logger: silentLogger })).close()
  return copy
}

interface Restored extends ForgetAgainDeps {
  readonly store: Store
  readonly path: string
}

async function removeAgain(restored: Restored, removals: LaterRemovals): Promise<ForgottenAgain> {
  const { store, clock, key, path } = restored
  const folder = join(dirname(path), 'media')
  const media = createMediaStore({ folder, clock, key, used: (ids) => store.read.media.used(ids) })
  const forgetting = forgettingOf(restored, media)
  let counts: ForgetCounts = NOTHING_FORGOTTEN
  const deleted = await Promise.all(removals.deleted.map((id) => wholeSession(store, id)))
  const all = { ...removals.forgotten, sessions: [...removals.forgotten.sessions, ...deleted.flat()] }
  for (const [no, plan] of [all, removals.aged, ...removals.open].entries()) {
    if (isNothing(plan)) continue
    const { counts: more } = await forgetting.repeat(`restored ${clock.now()} ${no}`, plan)
    counts = addCounts(counts, more)
  }
  for (const id of removals.deleted) await removeSession(store, id, clock.now())
  const files = await media.sweep()
  const { messages, events, memories, reminders } = counts
  return {
    messages,
    events,
    memories,
    reminders,
    files: counts.files + files,
    sessions: removals.deleted.length,
  }
}

function forgettingOf({ store, clock, channels }: Restored, media: OwnMediaStore): ForgettingService {
  return createForgetting({
    ...{ store, clock, channels, logger: silentLogger },
    dropView: () => {},
    async dropSchedule(tx, id) {
      await tx.schedules.remove(id)
      await letGo(tx, id, { outcome: 'forgotten', at: clock.now() })
    },
    // No turn runs, and nothing is deleted in a chat once more.
    nextEnd: async () => {},
    unsay: async () => true,
    nextOutcome: async () => {},
    schedulesChanged: async () => {},
    stopping: () => false,
    backups: () => [],
    forgetFiles: (ids) => media.forget(ids),
    sweepFiles: () => media.sweep(),
  })
}

function isNothing(plan: ForgetPlan): boolean {
  return Object.values(plan).every((part) => !Array.isArray(part) || part.length === 0)
}

/** Returns the plan that empties a session as a whole. */
async function wholeSession({ read }: Store, id: SessionId): Promise<ForgetPlan['sessions']> {
  if ((await read.sessions.get(id)) === undefined) return []
  const events = await read.events.latest(id, MOST_EVENTS)
  const turns = [...new Set(events.flatMap(({ turnId }) => turnId ?? []))]
  return [{ id, empty: events.map(({ seq }) => seq).toReversed(), cut: [], turns, unnamed: 'all' }]
}

const MOST_EVENTS = 1_000_000

/** A session in which something was under way stays as an empty one: the next start ends what that was. */
async function removeSession(store: Store, id: SessionId, at: number): Promise<void> {
  const gone = await store.write(async (tx) => {
    const session = await tx.sessions.get(id)
    if (session === undefined) return undefined
    const runs = (await tx.turns.running()).some(({ sessionId }) => sessionId === id)
    return runs || (await tx.inbox.waiting(id, 1)).length > 0 ? undefined : markGone(tx, session, at)
  })
  if (gone !== undefined) await purgeSession(store, gone)
}
