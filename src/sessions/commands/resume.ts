import type { Channels } from '../../core/channel-traits.ts'
import type { Clock } from '../../core/clock.ts'
import type { ChatCommand, CommandCall } from '../../core/command.ts'
import { ParleyError } from '../../core/errors.ts'
import type { Session } from '../../core/session.ts'
import { overridesOf, SETTING_NAMES, type SessionOverrides } from '../../core/session-settings.ts'
import type { Store, StoreWriter } from '../../store/store.ts'
import type { OverridesCache } from '../lookups/overrides-cache.ts'
import { isBusy } from '../turns/take-back.ts'
import { refuseWhole } from './joined-session.ts'
import { MOST_LISTED, sessionsOf, titleOf } from './sessions.ts'

export interface ResumeCommandDeps {
  readonly channels: Channels
  readonly store: Store
  readonly clock: Clock
  readonly overrides: Pick<OverridesCache, 'set'>
}

/**
 * `/resume` points the conversation to one of its own earlier sessions. What is set for the conversation stays set, as
 * with `/new`: a chat that an owner has silenced stays silent.
 */
export function resumeCommand(deps: ResumeCommandDeps): ChatCommand {
  return {
    name: 'resume',
    description: 'Continue an earlier conversation of this chat',
    args: 'its number or id in /sessions',
    who: 'anyone',
    fromConversation: true,
    run: (call) => resume(call, deps),
  }
}

async function resume(call: CommandCall, { channels, store, clock, overrides }: ResumeCommandDeps): Promise<string> {
  refuseWhole(channels, call)
  const name = call.args.trim()
  if (name === '') throw new ParleyError('invalid', USAGE)
  const { resumed, already } = await store.write(async (tx) => {
    const current = await tx.sessions.current(call.decision.route.scopeKey)
    const chosen = current && (await find(tx, current, name))
    if (current === undefined || chosen === undefined)
      throw new ParleyError('not_found', 'This conversation has no such session; `/sessions` lists them.')
    if (chosen.id === current.id) return { resumed: chosen, already: true }
    if (await isBusy(tx, current.id))
      throw new ParleyError('conflict', 'I am still working on something here; `/stop` ends it.')
    await point(tx, { from: current, to: chosen, at: clock.now() })
    tx.afterCommit(() => overrides.set(chosen, overridesOf(current), true))
    return { resumed: chosen, already: false }
  })
  return already
    ? `That is the conversation in use: ${titleOf(resumed)}`
    : `We continue this conversation: ${titleOf(resumed)}`
}

const USAGE = 'Say `/resume <number>`, with a number of `/sessions`, or `/resume <id>`.'

/** A number is never an id: every id has a colon. */
async function find(tx: StoreWriter, current: Session, name: string): Promise<Session | undefined> {
  if (/^\d+$/.test(name)) return (await sessionsOf(tx.sessions, current, MOST_LISTED))[Number(name) - 1]
  const named = await tx.sessions.get(name.replace(/^`(.*)`$/, '$1') as Session['id'])
  return named?.scopeKey === current.scopeKey ? named : undefined
}

/** The order of the list stays, so that a number names the same session if this runs again after a crash. */
async function point(
  tx: StoreWriter,
  { from, to, at }: { readonly from: Session; readonly to: Session; readonly at: number },
): Promise<void> {
  const set: SessionOverrides = overridesOf(from)
  await tx.sessions.deactivate(from.id, at)
  await tx.sessions.patchOverrides(to.id, { set, inherit: SETTING_NAMES.filter((name) => set[name] === undefined) })
  await tx.sessions.point(to.id)
}
