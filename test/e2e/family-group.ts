import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import type { MessageEntry } from '../../src/rehearsal/telegram/ledger-entries.ts'
import { type Household, type HouseholdOptions, startHousehold } from './household.ts'

/** The small id that a group has before it becomes a supergroup. */
export const GROUP = -2001

export const hear: Script = (request) => textReply(`heard ${lastUserText(request)}`)

/** Starts a household with a group that anybody may speak in, and that the configuration names by its id. */
export async function family(options: HouseholdOptions = {}): Promise<Household> {
  const groups = [{ match: { chat: String(GROUP) }, who: 'public', trigger: 'mention' }] as const
  const routing = { access: { direct: 'allowlist', groups }, ...options.routing } as const
  const house = await startHousehold({ script: hear, streaming: false, ...options, routing })
  // A schedule may be due before the group is there: its test adds it.
  if (!options.schedules) addFamily(house.telegram.world)
  return house
}

export function addFamily(world: Household['telegram']['world']): void {
  world.addChat({ type: 'group', title: 'Family', id: GROUP, members: [111, 444, 555] })
}

/** Says it to the bot and returns the answer. */
export async function ask({ telegram }: Household, chat: number, text: string) {
  const after = telegram.ledger.mark()
  telegram.world.say({ from: 444, chat, text: `@parley_bot ${text}` })
  return telegram.ledger.next(
    (entry): entry is MessageEntry => entry.kind === 'message' && entry.botId !== null && entry.text.includes(text),
    { after },
  )
}

export function lastPrompt({ anthropic }: Household): string {
  return JSON.stringify(anthropic?.ledger.requests().at(-1)?.messages)
}
