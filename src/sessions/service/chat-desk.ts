import type { Caller } from '../../core/caller.ts'
import type { ChatOperator } from '../../core/operate-chat.ts'
import { ChatRefused } from '../../core/operate-chat.ts'
import type { ModelRules } from './choose-model.ts'
import { answerKept, type KeptChatDeps, speakerOf } from './kept-chat.ts'
import { answerUnkept, type UnkeptChatDeps } from './unkept-chat.ts'

export interface ChatDeskDeps extends KeptChatDeps, UnkeptChatDeps {
  /** The agents there are. */
  readonly agents: ModelRules['agents']
  /** When they were there first as far as anybody knows: the start of the daemon. */
  readonly startedAt: number
}

/** Returns the door for clients of OpenAI's API, for whoever asks. */
export type ChatDesk = (caller: Caller) => ChatOperator

/** Chats that are answered without being kept: of one namespace, and of all. Others wait in their sessions' queues. */
const AT_ONCE = 8
const AT_ONCE_IN_ALL = 32

export function createChatDesk(deps: ChatDeskDeps): ChatDesk {
  const { agents, startedAt } = deps
  const places = createPlaces()
  return (caller) => ({
    models: () => agents.map(({ id }) => ({ id, createdAt: startedAt })),
    async answer({ model, user, session, messages, once }, watch) {
      const agent = agents.find(({ id }) => id === model)?.id
      if (agent === undefined)
        throw new ChatRefused('not_found', `There is no agent "${model}".`, { param: 'model', name: 'model_not_found' })
      const speaker = speakerOf(deps, caller, user)
      if (session !== undefined) return answerKept(deps, { ...speaker, agent, session, messages, once }, watch)
      const leave = places.enter(caller.kind === 'token' ? caller.namespace : '')
      try {
        return await answerUnkept(deps, { ...speaker, agent, messages }, watch)
      } finally {
        leave()
      }
    },
  })
}

function createPlaces() {
  const taken = new Map<string, number>()
  let all = 0
  return {
    /** Returns what gives the place back. Throws `queue_full`. */
    enter(whose: string): () => void {
      const own = taken.get(whose) ?? 0
      if (own >= AT_ONCE || all >= AT_ONCE_IN_ALL)
        throw new ChatRefused('queue_full', 'Too many chats are being answered; try again in a moment.')
      all++
      taken.set(whose, own + 1)
      return () => {
        all--
        const left = (taken.get(whose) ?? 1) - 1
        if (left === 0) taken.delete(whose)
        else taken.set(whose, left)
      }
    },
  }
}
