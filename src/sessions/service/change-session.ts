import type { Caller } from '../../core/caller.ts'
import type { Clock } from '../../core/clock.ts'
import { ParleyError } from '../../core/errors.ts'
import type { AgentId } from '../../core/ids.ts'
import { NOBODY } from '../../core/platform-id.ts'
import type { Session, SessionIdentity } from '../../core/session.ts'
import {
  collectOverrides,
  isSettingName,
  overridesOf,
  SESSION_SETTINGS,
  SETTING_NAMES,
  type SessionOverrides,
  type SettingPatch,
} from '../../core/session-settings.ts'
import type { Store, StoreWriter } from '../../store/store.ts'
import type { OverridesCache } from '../lookups/overrides-cache.ts'
import { readBoundary } from '../view/read-boundary.ts'
import { type FindDeps, findInUse, findSession, namedInUse } from './find-session.ts'
import { isOwner, noSuchSession } from './session-access.ts'

interface ChangeDeps extends FindDeps {
  readonly store: Store
  readonly clock: Clock
  refusesModel(agent: AgentId, model: string): string | undefined
  readonly daemon?: NonNullable<FindDeps['daemon']> & { readonly overrides: Pick<OverridesCache, 'set'> }
}

/** Sets overrides (T29, T37); see `SessionService.patch`. */
export async function patchSession(
  caller: Caller,
  name: string,
  changes: unknown,
  deps: ChangeDeps,
): Promise<SessionIdentity> {
  const { store, daemon, refusesModel } = deps
  const session = await findInUse(caller, name, deps)
  if (!isOwner(caller)) throw new ParleyError('forbidden', 'Only an owner may change how a session behaves.')
  const model = modelIn(changes)
  const refused = model === undefined ? undefined : refusesModel(session.agentId, model)
  if (refused) throw new ParleyError('invalid', refused)
  const patch = readPatch(changes)
  const { now, overrides, current } = await store.write(async (tx) => {
    // A `/new` may have come since: the name means the new session by now.
    const now = await namedInUse(caller, name, tx.sessions)
    if (now?.scopeKey !== session.scopeKey) throw noSuchSession(name)
    const overrides = patched(overridesOf(now), patch)
    await tx.sessions.patchOverrides(now.id, patch)
    return { now, overrides, current: await isCurrent(tx, now) }
  })
  daemon?.overrides.set(now, overrides, current)
  return now
}

/** Returns the model of a patch, mistyped or not: the refusal of a mistyped model names the choices. */
function modelIn(changes: unknown): string | undefined {
  const { model }: { readonly model?: unknown } = typeof changes === 'object' && changes !== null ? changes : {}
  return typeof model === 'string' ? model : undefined
}

/** Sets from where on the model is shown the log (K33-K36); see `SessionService.setHistory`. */
export async function setBoundary(
  caller: Caller,
  name: string,
  boundary: unknown,
  deps: ChangeDeps,
): Promise<SessionIdentity> {
  const { store, clock } = deps
  const session = await findInUse(caller, name, deps)
  if (!isOwner(caller)) throw new ParleyError('forbidden', 'Only an owner may change what the model is shown.')
  const data = readBoundary(boundary)
  await store.write((tx) => tx.events.append(session.id, clock.now(), [{ type: 'history_boundary', data }]))
  return session
}

/** Sets a description by hand (R3); see `SessionService.rename`. */
export async function renameSession(
  caller: Caller,
  name: string,
  title: string,
  deps: ChangeDeps,
): Promise<SessionIdentity> {
  const session = await findSession(caller, name, deps)
  const description = readTitle(title)
  await deps.store.write(async (tx) => {
    await tx.sessions.describe(session.id, description, 'user')
    // Lists show a name to the model of other sessions.
    if (caller.kind === 'token') await tx.authors.add(session.id, NOBODY)
  })
  return session
}

/** Returns true if the scope key points to the session, so that the next message in its chat goes there. */
export async function isCurrent(tx: StoreWriter, { id, scopeKey }: Session): Promise<boolean> {
  return (await tx.sessions.current(scopeKey))?.id === id
}

const TITLE = 80
/** Characters that nobody sees, or that turn what follows around. */
const HIDDEN = /[\p{Cc}\p{Cs}\p{Bidi_Control}\s]+/gu

/** Returns a title without what nobody sees. Throws `invalid` for none, and for more than 80 characters. */
export function readTitle(title: string): string {
  const read = title.replace(HIDDEN, ' ').trim()
  if (read === '' || [...read].length > TITLE)
    throw new ParleyError('invalid', `A session is named by 1 to ${TITLE} characters.`)
  return read
}

/**
 * Reads the patch of any caller (T29): a value sets, null inherits. Throws `invalid`, which names field and values. It
 * uses the readers of the table, as the store and the chat commands do, where a schema would repeat them.
 */
function readPatch(given: unknown): SettingPatch {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) throw invalid(`give ${names()} as an object`)
  const fields = new Map<string, unknown>(Object.entries(given).filter(([, value]) => value !== undefined))
  if (fields.size === 0) throw invalid(`nothing to change; give ${names()}`)
  for (const name of fields.keys()) if (!isSettingName(name)) throw invalid(`"${name}" is not known; give ${names()}`)
  const set = collectOverrides((name) => {
    const field = fields.get(name) ?? undefined
    if (field === undefined) return undefined
    const { value } = SESSION_SETTINGS[name]
    const read = value.read(field)
    if (read === undefined) throw invalid(`"${name}" must be ${value.takes} or null`)
    return read
  })
  return { set, inherit: SETTING_NAMES.filter((name) => fields.get(name) === null) }
}

/** Returns the overrides after a patch. */
function patched(overrides: SessionOverrides, { set, inherit }: SettingPatch): SessionOverrides {
  return collectOverrides((name) => set[name] ?? (inherit.includes(name) ? undefined : overrides[name]))
}

function names(): string {
  return SETTING_NAMES.join(', ')
}

function invalid(message: string): ParleyError {
  return new ParleyError('invalid', `A session cannot be changed so: ${message}.`)
}
