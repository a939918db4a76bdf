import { type Address, formatAddress } from '../../core/address.ts'
import { type BotBudget, type BotSpending, isExhausted, NOTHING_SPENT, spentBy } from '../../core/bot-budget.ts'
import type { Decision, Dispatch } from '../../core/dispatch.ts'
import type { TraceId } from '../../core/ids.ts'
import type { Usage } from '../../core/model.ts'

/** Chats kept in mind; one more drops the one where no bot spoke for longest. */
const MOST_CHATS = 2_000

interface Chat {
  readonly spending: BotSpending
  /** The traces of what bots asked and got answered, by event key: a platform may tell of one message twice. */
  readonly asked: ReadonlyMap<string, TraceId>
  /** The newest of their messages was not answered. */
  readonly held: boolean
}

const FRESH: Pick<Chat, 'asked' | 'held'> = { asked: new Map(), held: false }

/** What other bots made the agent do, chat by chat, all topics of one together: else a loop would move on to the next. */
export class BotTurns {
  readonly #budget: () => BotBudget
  readonly #chats = new Map<string, Chat>()

  /** `budget`: the one in force, which may change. */
  constructor(budget: () => BotBudget) {
    this.#budget = budget
  }

  spending(address: Address, at: number): BotSpending {
    return spentBy(this.#chats.get(chatOf(address))?.spending ?? NOTHING_SPENT, at, this.#budget())
  }

  /** Takes in a decision; true if it is the first in its chat that the budget held back. */
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
    const { asked, held: before } = (turns > 0 && this.#chats.get(chat)) || FRESH
    if (asked.has(eventKey)) return false
    this.#chats.delete(chat)
    this.#chats.set(chat, {
      spending: { turns: turns + (runs ? 1 : 0), tokens, lastAskedAt: receivedAt },
      asked: runs ? new Map([...asked, [eventKey, traceId]]) : asked,
      held,
    })
    const [oldest] = this.#chats.keys()
    if (this.#chats.size > MOST_CHATS && oldest !== undefined) this.#chats.delete(oldest)
    return held && !before
  }

  /** A turn ended; what it took counts if a bot asked for it. */
  ended(address: Address, traceId: TraceId, { input, output }: Usage): void {
    const name = chatOf(address)
    const chat = this.#chats.get(name)
    if (!chat || ![...chat.asked.values()].includes(traceId)) return
    const tokens = chat.spending.tokens + input + output
    this.#chats.set(name, { ...chat, spending: { ...chat.spending, tokens } })
  }

  /** Chats whose bots are not answered at this moment. */
  exhausted(at: number): readonly string[] {
    return [...this.#chats.entries()].flatMap(([name, { spending }]) =>
      isExhausted(spentBy(spending, at, this.#budget()), this.#budget()) ? [name] : [],
    )
  }
}

function chatOf({ topic: _topic, ...chat }: Address): string {
  return formatAddress(chat)
}
