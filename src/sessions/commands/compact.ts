import type { Charge } from '../../core/budget.ts'
import type { Channels } from '../../core/channel-traits.ts'
import type { ChatCommand, CommandCall } from '../../core/command.ts'
import { errorCode, ParleyError } from '../../core/errors.ts'
import { failureCause } from '../../core/model-remedy.ts'
import type { Store } from '../../store/store.ts'
import type { Compaction } from '../service/compaction.ts'
import { refuseJoined } from './joined-session.ts'

export interface CompactCommandDeps {
  readonly channels: Channels
  readonly store: Pick<Store, 'read'>
  readonly compact: Compaction['compact']
  /** Absent where no budget is configured. */
  readonly budgets: { ofCommand(this: void, call: CommandCall): Charge | undefined } | undefined
}

/**
 * `/compact` has a summary stand for the older turns now. It is a call of the model that no turn bounds, so it is for
 * people who were let in by name; in a session that people of other chats share it is the owner's.
 */
export function compactCommand(deps: CompactCommandDeps): ChatCommand {
  return {
    name: 'compact',
    description: 'Put a summary in the place of what was said long ago here',
    who: 'anyone',
    run: (call) => compact(call, deps),
  }
}

async function compact(call: CommandCall, deps: CompactCommandDeps): Promise<string> {
  refuseJoined(deps.channels, call)
  const { decision } = call
  if (decision.public) throw new ParleyError('forbidden', 'Only people whom my owner knows may do that.')
  const session = await deps.store.read.sessions.current(decision.route.scopeKey)
  const turns = session === undefined ? 0 : await deps.compact(session, deps.budgets?.ofCommand(call)).catch(failed)
  if (turns === 0)
    return 'There is nothing to sum up yet: the newest four turns stay as they are, and two summaries lie three turns apart.'
  return `Done: a summary stands for ${turns} earlier ${turns === 1 ? 'turn' : 'turns'} from now on. Nothing is deleted.`
}

function failed(error: unknown): never {
  const code = errorCode(error)
  if (!code.startsWith('model_')) throw error
  throw new ParleyError(code, `I could not write a summary: ${failureCause(code)}. Everything stays as it is.`)
}
