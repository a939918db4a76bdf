import type { Clock } from '../../core/clock.ts'
import type { ChatCommand, CommandCall } from '../../core/command.ts'
import { ParleyError } from '../../core/errors.ts'
import type { PersonId } from '../../core/ids.ts'
import type { Mutes } from '../lookups/mutes.ts'

export interface MuteCommandDeps {
  readonly mutes: Mutes
  readonly clock: Clock
  /** Reads the end of a mute (`2h`, `until monday at 9`) as its writer means it. Throws `invalid` with an example. */
  readEnd(
    this: void,
    text: string,
    writer: { readonly at: number; readonly person: PersonId | undefined },
  ): Promise<TypedEnd>
}

export interface TypedEnd {
  /** Ms since the epoch. */
  readonly at: number
  /** The same as its writer reads it, with the zone. */
  readonly words: string
}

const LONGEST_MS = 366 * 86_400_000

/** `/mute` silences the agent in this conversation for a while; messages there are kept as context. */
export function muteCommand(deps: MuteCommandDeps): ChatCommand {
  return {
    name: 'mute',
    description: 'Say nothing here for a while',
    args: 'how long (2h), until when (until monday at 9), or off',
    who: 'owner',
    run: (call) => mute(call, deps),
  }
}

async function mute(
  { dispatch, decision, args }: CommandCall,
  { mutes, clock, readEnd }: MuteCommandDeps,
): Promise<string> {
  const { address } = dispatch.event
  const asked = args.trim()
  if (/^off$/i.test(asked)) {
    const ended = await mutes.end(address)
    return stillMuted(mutes.until(address), clock) ?? (ended ? 'I am back.' : 'I was not muted here.')
  }
  if (/^(?:on)?$/i.test(asked)) {
    await mutes.mute(address)
    return 'I say nothing here until `/mute off`. What is written is kept.'
  }
  // The mute counts from the request, so that a second run after a crash does not prolong it.
  const { at: until, words } = await readEnd(asked, { at: dispatch.receivedAt, person: decision.identity.person })
  if (until <= dispatch.receivedAt) throw new ParleyError('invalid', `${words} is over; give a time to come.`)
  if (until > dispatch.receivedAt + LONGEST_MS)
    throw new ParleyError('invalid', 'That is more than a year; give a time within one, or `/mute` alone.')
  await mutes.mute(address, until)
  return `I say nothing here until ${words}, or until \`/mute off\`. What is written is kept.`
}

function stillMuted(until: number | undefined, clock: Clock): string | undefined {
  return until !== undefined && until > clock.now()
    ? 'The channel this thread hangs in is muted; say `/mute off` there.'
    : undefined
}
