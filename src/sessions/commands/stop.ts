import type { Channels } from '../../core/channel-traits.ts'
import type { Clock } from '../../core/clock.ts'
import type { ChatCommand, CommandCall } from '../../core/command.ts'
import type { Store } from '../../store/store.ts'
import type { RunningTurns } from '../turns/running-turns.ts'
import { refuseJoined } from './joined-session.ts'

export interface StopCommandDeps {
  readonly channels: Channels
  readonly store: Store
  readonly clock: Clock
  readonly running: Pick<RunningTurns, 'abort'>
}

/**
 * `/stop`: ends the running turn and drops what waits behind it, on disk before it is said. In a session that people of
 * other chats share it is the owner's.
 */
export function stopCommand(deps: StopCommandDeps): ChatCommand {
  return {
    name: 'stop',
    description: 'Stop what I am working on here',
    who: 'anyone',
    run: (call) => stop(call, deps),
  }
}

async function stop(call: CommandCall, { store, clock, channels, running }: StopCommandDeps): Promise<string> {
  refuseJoined(channels, call)
  const { decision } = call
  const current = await store.read.sessions.current(decision.route.scopeKey)
  if (!current) return 'Nothing is running here.'
  const dropped = await store.write(async (tx) => {
    const messages = await tx.inbox.settleWaiting(current.id, 'cancelled')
    if (messages > 0)
      await tx.events.append(current.id, clock.now(), [{ type: 'messages_dropped', data: { messages } }])
    return messages
  })
  // Only what is on disk has stopped for good: a crash now must not bring the turn back (RELIABILITY P37).
  const ended = running.abort(current.id)
  await ended
  if (!ended && dropped === 0) return 'Nothing is running here.'
  return dropped === 0
    ? 'Stopped.'
    : `Stopped, and ${dropped} waiting ${dropped === 1 ? 'message' : 'messages'} with it.`
}
