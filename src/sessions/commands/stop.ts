import type { Channels } from '../../core/channel-traits.ts'
import type { ChatCommand, CommandCall } from '../../core/command.ts'
import type { SessionId } from '../../core/ids.ts'
import { findOwnTurn } from '../turns/interrupted-turn.ts'
import { type StopDeps, stopSession } from '../turns/stop-session.ts'
import { isAmongOthers, othersToo, refuseJoined } from './joined-session.ts'

export interface StopCommandDeps extends StopDeps {
  readonly channels: Channels
}

/**
 * `/stop` ends the running turn and drops what waits behind it, on disk before the answer. In a session that people of
 * other chats share it is the owner's command; among others a stranger ends only a turn that they alone have asked for.
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
  if (!current) return NOTHING
  if (isAmongOthers(channels, call)) return stopOwn(call, current.id, { store, running, channels })
  const { stopped, dropped } = await stopSession({ store, clock, running }, current.id)
  if (!stopped && dropped === 0) return NOTHING
  return dropped === 0 ? STOPPED : `Stopped, and ${dropped} waiting ${dropped === 1 ? 'message' : 'messages'} with it.`
}

async function stopOwn(
  { dispatch: { event } }: CommandCall,
  session: SessionId,
  { store, running, channels }: Pick<StopCommandDeps, 'store' | 'running' | 'channels'>,
): Promise<string> {
  let ended: ReturnType<typeof running.abort>
  await store.write(async (tx) => {
    const turn = await findOwnTurn(tx, session, event, channels)
    if (turn === 'others') throw othersToo()
    // Before the next transaction, in which somebody else could join the turn.
    if (turn)
      tx.afterCommit(() => {
        ended = running.abort(session, turn)
      })
  })
  await ended
  return ended === undefined ? NOTHING : STOPPED
}

const STOPPED = 'Stopped.'
const NOTHING = 'Nothing is running here.'
