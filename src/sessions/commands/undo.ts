import { type Clock, sleep } from '../../core/clock.ts'
import type { ChatCommand, CommandCall } from '../../core/command.ts'
import { ParleyError } from '../../core/errors.ts'
import type { Session } from '../../core/session.ts'
import type { Store, StoreWriter } from '../../store/store.ts'
import { type LastExchange, type TakeBackPorts, type TakenBack, takeBackLast } from '../turns/take-back.ts'
import { isAmongOthers, onlyKnown } from './joined-session.ts'

export interface UndoCommandDeps extends TakeBackPorts {
  readonly store: Store
  readonly clock: Clock
}

/**
 * `/undo` takes the last exchange back: the model knows neither the words nor the answer any more, and the answer is
 * deleted where the platform can. It is for whoever has asked, and for an owner.
 */
export function undoCommand(deps: UndoCommandDeps): ChatCommand {
  return {
    name: 'undo',
    description: 'Take back the last message here and my answer to it',
    who: 'anyone',
    run: (call) => undo(call, deps),
  }
}

async function undo(call: CommandCall, deps: UndoCommandDeps): Promise<string> {
  const taken = await takeBackSafely(call, deps, async (tx, _session, { rows }) => {
    for (const { id } of rows) await tx.inbox.settle(id, 'taken_back')
  })
  if (taken === undefined) return 'There is nothing to take back here.'
  return `Taken back: the last message and my answer to it. I know neither any more.${staysInWords(taken)}`
}

/** Returns a sentence about the tools whose effects stay; nothing if there are none. */
export function staysInWords(tools: readonly string[]): string {
  return tools.length === 0 ? '' : ` What these tools did is not taken back: ${tools.join(', ')}.`
}

/** The time between two looks at an answer that is on its way, and the most looks. */
const LOOK_AGAIN = { ms: 250, times: 20 }

/**
 * Takes the last exchange back, with what else belongs into the commit. Returns the tools whose effects stay, undefined
 * if there is no exchange. Throws, in words for a chat, if it is not to be taken back now or by this person.
 */
export async function takeBackSafely(
  call: CommandCall,
  deps: UndoCommandDeps & { readonly again?: true },
  also: (tx: StoreWriter, session: Session, exchange: LastExchange) => Promise<void>,
): Promise<readonly string[] | undefined> {
  const { store, clock, channels, again } = deps
  if (isAmongOthers(channels, call)) throw onlyKnown('Only people whom my owner knows may do that here.')
  const { inboxId: command, decision, dispatch } = call
  const taking = { command, identity: decision.identity, event: dispatch.event, ...(again && { again }) }
  for (let look = 1; ; look++) {
    const taken = await store.write(async (tx) => {
      const session = await tx.sessions.current(decision.route.scopeKey)
      if (session === undefined) return NOTHING
      const taken = await takeBackLast(tx, session, clock.now(), { taking, ports: deps })
      if (taken.kind === 'done') await also(tx, session, taken.exchange)
      return taken
    })
    if (taken.kind === 'nothing') return undefined
    if (taken.kind === 'done' || taken.kind === 'repeated') return taken.outside
    if (taken.kind !== 'sending' || look === LOOK_AGAIN.times) throw refusal(taken.kind)
    await sleep(clock, LOOK_AGAIN.ms)
  }
}

const NOTHING: TakenBack = { kind: 'nothing' }

function refusal(kind: 'running' | 'others' | 'summed_up' | 'sending'): ParleyError {
  switch (kind) {
    case 'running':
      return new ParleyError('conflict', 'I am still working on something here; `/stop` ends it.')
    case 'others':
      return new ParleyError('forbidden', 'The last exchange here is not yours alone: that is for my owner.')
    case 'summed_up':
      return new ParleyError(
        'conflict',
        'What was said last is part of a summary by now and cannot be taken back by itself; `/new` starts afresh.',
      )
    case 'sending':
      return new ParleyError('conflict', 'My answer is still on its way; please say that again in a moment.')
  }
}
