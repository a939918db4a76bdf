import type { Clock } from '../../core/clock.ts'
import type { ChatCommand, CommandCall } from '../../core/command.ts'
import { ParleyError } from '../../core/errors.ts'
import type { Mutes } from '../lookups/mutes.ts'
import { parseDuration } from './parse-duration.ts'

export interface MuteCommandDeps {
  readonly mutes: Mutes
  readonly clock: Clock
}

/** `/mute` silences the agent in this conversation for a while; messages there are kept as context. */
export function muteCommand(deps: MuteCommandDeps): ChatCommand {
  return {
    name: 'mute',
    description: 'Say nothing here for a while',
    args: 'how long (30m, 2h, 1d), or off',
    who: 'owner',
    run: (call) => mute(call, deps),
  }
}

async function mute({ dispatch, args }: CommandCall, { mutes, clock }: MuteCommandDeps): Promise<string> {
  const { address } = dispatch.event
  const asked = args.trim().toLowerCase()
  if (asked === 'off') {
    const ended = await mutes.end(address)
    return stillMuted(mutes.until(address), clock) ?? (ended ? 'I am back.' : 'I was not muted here.')
  }
  if (asked === '' || asked === 'on') {
    await mutes.mute(address)
    return 'I say nothing here until `/mute off`. What is written is kept.'
  }
  const duration = parseDuration(asked)
  if (duration === undefined)
    throw new ParleyError('invalid', 'Give me a time such as `30m`, `2h` or `1d`, up to a year, or `off`.')
  // The mute counts from the request, so that a second run after a crash does not prolong it.
  const until = dispatch.receivedAt + duration
  await mutes.mute(address, until)
  return `I say nothing here until ${new Date(until).toISOString().slice(0, 16).replace('T', ' ')} UTC, or until \`/mute off\`. What is written is kept.`
}

function stillMuted(until: number | undefined, clock: Clock): string | undefined {
  return until !== undefined && until > clock.now()
    ? 'The channel this thread hangs in is muted; say `/mute off` there.'
    : undefined
}
