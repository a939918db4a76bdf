import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../../src/config/config.ts'
import type { Clock } from '../../src/core/clock.ts'
import { toAgentId } from '../../src/core/ids.ts'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { withDatabase } from '../store/temp-database.ts'
import { recorded, startHousehold } from './household.ts'

/** Says what it was told last. */
export const heard: Script = (request) => textReply(`heard: ${lastUserText(request).split('\n').at(-1)}`)

/** Returns the files of a folder that hold these bytes. */
export function holding(folder: string, bytes: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => {
    const path = join(folder, name)
    return statSync(path).isFile() && readFileSync(path).includes(bytes)
  })
}

export interface Said {
  readonly from?: number
  /** The direct chat of who says it, unless given. */
  readonly chat?: number
  readonly replyTo?: number
}

/** A household whose agent has what can be forgotten: memory, reminders and other conversations. */
export async function forgettingHouse({
  script = heard,
  config = {},
  clock,
}: {
  readonly script?: Script
  readonly config?: Partial<Config>
  readonly clock?: Clock
} = {}) {
  const tools = ['memory', 'sessions', 'schedule']
  const home = await startHousehold({
    ...{ script, streaming: false },
    ...(clock ? { clock } : {}),
    config: {
      agents: [{ id: toAgentId('main'), model: 'anthropic/claude-haiku-4-5', prompt: 'Talk.', tools }],
      ...config,
    },
  })
  const { world, ledger } = home.telegram
  const addGroup = (title: string, members: readonly number[] = [111, 444, 555]): number =>
    world.addChat({ type: 'supergroup', title, members: [...members] }).id
  /** Does something and returns what is said in the chat next. */
  const answered = async (act: () => void, chat: number): Promise<string> => {
    const after = ledger.mark()
    act()
    const { text } = await ledger.nextFromBot('sent', { after, where: ({ chatId }) => chatId === chat })
    await recorded(home)
    return text
  }
  const exchange = async (text: string, { from = 111, chat = from, replyTo }: Said = {}) => {
    let id = 0
    const answer = await answered(() => {
      const said = { from, text: chat < 0 && !text.startsWith('/') ? `@parley_bot ${text}` : text }
      id = world.say({ ...said, ...(chat === from ? {} : { chat }), ...(replyTo ? { replyTo } : {}) }).message_id
    }, chat)
    return { answer, id }
  }
  return {
    ...{ home, world, ledger, addGroup, answered, exchange },
    say: async (text: string, said?: Said): Promise<string> => (await exchange(text, said)).answer,
    /** What the model was shown last. */
    prompt: (): string => JSON.stringify(home.anthropic?.ledger.requests().at(-1)?.messages),
    /** The rows of a query, as text. */
    rows: (query: string): string =>
      withDatabase(join(home.dataDir, 'parley.db'), (database) => JSON.stringify(database.prepare(query).all())),
  }
}
