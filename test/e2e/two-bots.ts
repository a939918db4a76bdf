import { forgettingHouse } from './forgetting-house.ts'
import { type HouseholdOptions, recorded } from './household.ts'

const [PARLEY, SAGE] = [7_000_001, 7_000_002]

export interface TwoBots extends HouseholdOptions {
  readonly isPrivate?: boolean
  readonly small?: boolean
}

/**
 * A household with two bots, `@parley_bot` and `@sage_bot`, in a group of Ada, Bob and Cy. The first receives all that is
 * said in it, the second too, unless it is `isPrivate`. In a `small` one each of them counts messages by itself.
 */
export async function twoBots({ isPrivate = false, small = false, ...options }: TwoBots = {}) {
  const bots = [
    { token: `${PARLEY}:rehearsal`, canReadAllGroupMessages: true },
    { token: `${SAGE}:rehearsal`, firstName: 'Sage', username: 'sage_bot', canReadAllGroupMessages: !isPrivate },
  ]
  const house = await forgettingHouse({
    telegram: { bots, ...(options.clock && { now: options.clock.now }) },
    others: { sage: `${SAGE}:rehearsal` },
    routing: { ownerAlwaysTriggers: false },
    ...options,
  })
  const { home, world, ledger } = house
  const type = small ? 'group' : 'supergroup'
  const chat = world.addChat({ type, title: 'Family', members: [111, 444, 555] }).id
  /** Says something in the group and returns what this bot answers, with the id of what was said. */
  const ask = async (bot: 'parley' | 'sage', text: string, { from = 111, replyTo = 0 } = {}) => {
    const after = ledger.mark()
    const { message_id: id } = world.say({ from, chat, text, ...(replyTo && { replyTo }) })
    const botId = bot === 'sage' ? SAGE : PARLEY
    const sent = await ledger.nextFromBot('sent', { after, where: (entry) => entry.botId === botId })
    await recorded(home)
    return { id, answer: sent.text, answerId: sent.messageId }
  }
  /** Says something to nobody, and resolves once both bots have it on record. */
  const aside = async (text: string, from = 111): Promise<number> => {
    const said = world.say({ from, chat, text })
    const offered = ledger.entries.filter((entry) => entry.kind === 'offered' && entry.payload === said)
    await Promise.all(
      offered.map((one) => ledger.next((entry) => entry.kind === 'confirmed' && 'updateId' in one && same(entry, one))),
    )
    return said.message_id
  }
  /** Resolves once a bot receives nothing more until it is released. */
  const heldBack = async (bot: 'parley' | 'sage') => {
    const botId = bot === 'sage' ? SAGE : PARLEY
    const where = (call: { botId: number }): boolean => call.botId === botId
    const held = home.telegram.faults.add({ method: 'getUpdates', where, action: { kind: 'hold', when: 'before' } })
    await ask(bot, `@${bot}_bot wait`)
    await held.reached
    return held
  }
  /** What each bot has sent, in order. */
  const sentBy = (bot: 'parley' | 'sage'): readonly string[] =>
    ledger.entries.flatMap((entry) =>
      entry.kind === 'message' && entry.change === 'sent' && entry.botId === (bot === 'sage' ? SAGE : PARLEY)
        ? [entry.text]
        : [],
    )
  return { ...house, chat, ask, aside, heldBack, sentBy, PARLEY, SAGE }
}

function same(one: object, other: object): boolean {
  const [a, b] = [one, other] as { updateId?: number; botId?: number }[]
  return a?.updateId === b?.updateId && a?.botId === b?.botId
}
