import type { HookCall } from '../core/hook.ts'
import type { SessionId } from '../core/ids.ts'
import type { Usage } from '../core/model.ts'
import { withoutOpaque } from '../core/opaque.ts'
import type { EventToAppend } from '../store/event-port.ts'
import type { StoreWatch } from '../store/store.ts'
import type { Hooks } from './hooks.ts'

/** Returns what notifies the hooks of each commit, if there is one that is to be notified. */
export function hookWatch({ has, notify, forget }: Pick<Hooks, 'has' | 'notify' | 'forget'>): StoreWatch | undefined {
  const notified = (['session_create', 'session_save', 'session_delete', 'after_turn'] as const).some(has)
  if (!notified) return undefined
  return {
    appended(session, seq, events) {
      if (events.some(({ type }) => type === 'words_forgotten')) forget(session)
      for (const event of events) {
        const call = callOf(session, event)
        if (call) notify(call)
      }
      notify({ on: 'session_save', session, seq, events: events.map(withoutOpaque) })
    },
    deleted: (session) => notify({ on: 'session_delete', session }),
    pointed() {},
    taken() {},
  }
}

/** Every token that the model read, whatever it cost. */
function read({ input, cacheRead = 0, cacheWrite = 0 }: Usage): number {
  return input + cacheRead + cacheWrite
}

type Notified = Extract<HookCall, { on: 'session_create' | 'after_turn' }>

function callOf(session: SessionId, event: EventToAppend): Notified | undefined {
  const turn = event.turnId === undefined ? {} : { turn: event.turnId }
  switch (event.type) {
    case 'session_started':
      return { on: 'session_create', session, agent: event.data.agent }
    case 'turn_completed': {
      const { outcome, steps, usage, error } = event.data
      const tokens = { input: read(usage), output: usage.output }
      return { on: 'after_turn', session, ...turn, outcome, steps, tokens, ...(error === undefined ? {} : { error }) }
    }
    case 'turn_cancelled':
      return { on: 'after_turn', session, ...turn, outcome: 'cancelled', steps: 0, tokens: { input: 0, output: 0 } }
    default:
      return undefined
  }
}
