import { LRUCache } from 'lru-cache'
import { type Address, formatAddress } from '../../core/address.ts'
import { type BotBudget, type BotSpending, isExhausted, NO_BOT_SPENDING, spentBy } from '../../core/bot-budget.ts'
import type { Decision, Dispatch } from '../../core/dispatch.ts'
import type { TraceId } from '../../core/ids.ts'
import { tokensOf, type Usage } from '../../core/model.ts'

/** The most chats remembered; one more drops the chat where bots were quiet longest. */
const MOST_CHATS = 2_000

interface Chat {
  readonly spending: BotSpending
  /** The traces of the bots' messages that were answered, by event key: a platform may deliver one message twice. */
  readonly asked: ReadonlyMap<string, TraceId>
  /** True if the newest of the bots' messages was held back. */
  readonly held: boolean
}

const FRESH: Pick<Chat, 'asked' | 'held'> = { asked: new Map(), held: false }

/** The turns that other bots caused, by chat with all its topics: otherwise a loop would move on to the next topic. */
export class BotTurns {
  readonly #budget: () => BotBudget
  readonly #chats = new LRUCache<string, Chat>({ max: MOST_CHATS })

  /** Takes `budget` as a function, since the budget in force may change. */
  constructor(budget: () => BotBudget) {
    this.#budget = budget
  }

  spending(address: Address, at: number): BotSpending {
    return spentBy(this.#chats.peek(chatOf(address))?.spending ?? NO_BOT_SPENDING, at, this.#budget())
  }

  /** Records a decision; returns true if it is the first in its chat that the budget held back. */
  decided({ event, origin, receivedAt, traceId }: Dispatch, decision: Decision): boolean {
    const { address, sender, eventKey } = event
    const chat = chatOf(address)
    const runs = decision.kind === 'run'
    if (sender.kind !== 'bot') {
      if (runs && origin === 'platform') this.#chats.delete(chat)
      return false
    }
    const held = decision.kind === 'context' && decision.reason === 'bot_budget'
    if (!runs && !held) return false
    const { turns, tokens } = this.spending(address, receivedAt)
    const { asked, held: before } = (turns > 0 && this.#chats.peek(chat)) || FRESH
    if (asked.has(eventKey)) return false
    this.#chats.set(chat, {
      spending: { turns: turns + (runs ? 1 : 0), tokens, lastAskedAt: receivedAt },
      asked: runs ? new Map([...asked, [eventKey, traceId]]) : asked,
      held,
    })
    return held && !before
  }

  /** Called when a turn ended; its usage counts if a bot asked for it. */
  ended(address: Address, traceId: TraceId, usage: Usage): void {
    const name = chatOf(address)
    const chat = this.#chats.peek(name)
    if (!chat || ![...chat.asked.values()].includes(traceId)) return
    const tokens = chat.spending.tokens + tokensOf(usage)
    this.#chats.set(name, { ...chat, spending: { ...chat.spending, tokens } })
  }

  /** Returns the chats whose bots are not answered at this moment. */
  exhausted(at: number): readonly string[] {
    const chats: string[] = []
    this.#chats.rforEach(({ spending }, name) => {
      if (isExhausted(spentBy(spending, at, this.#budget()), this.#budget())) chats.push(name)
    })
    return chats
  }
}

function chatOf({ topic: _topic, ...chat }: Address): string {
  return formatAddress(chat)
}
