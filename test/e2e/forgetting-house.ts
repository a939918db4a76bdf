import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { toAgentId } from '../../src/core/ids.ts'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { withDatabase } from '../store/temp-database.ts'
import { type HouseholdOptions, recorded, startHousehold } from './household.ts'
import { isCheckpoint } from './remembering.ts'

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
export async function forgettingHouse({ script = heard, config = {}, ...more }: HouseholdOptions = {}) {
  const tools = ['memory', 'sessions', 'schedule']
  const home = await startHousehold({
    ...{ script, streaming: false, ...more },
    config: {
      agents: [{ id: toAgentId('main'), model: 'anthropic/claude-haiku-4-5', prompt: 'Talk.', tools }],
      ...config,
    },
  })
  const { world, ledger } = home.telegram
  const addGroup = (title: string, members: readonly number[] = [111, 444, 555]): number =>
    world.addChat({ type: 'supergroup', title, members: [...members] }).id
  /** Does something and returns the next message of the bot's in the chat that has these words. */
  const heardAfter = async (act: () => void, chat: number, words = '') => {
    const after = ledger.mark()
    act()
    const where = (sent: { chatId: number; text: string }) => sent.chatId === chat && sent.text.includes(words)
    const sent = await ledger.nextFromBot('sent', { after, where })
    await recorded(home)
    return sent
  }
  /** Does something and returns what is said in the chat next. */
  const answered = async (act: () => void, chat: number): Promise<string> => (await heardAfter(act, chat)).text
  const exchange = async (text: string, { from = 111, chat = from, replyTo }: Said = {}) => {
    let id = 0
    const answer = await answered(() => {
      const said = { from, text: chat < 0 && !text.startsWith('/') ? `@parley_bot ${text}` : text }
      id = world.say({ ...said, ...(chat === from ? {} : { chat }), ...(replyTo ? { replyTo } : {}) }).message_id
    }, chat)
    return { answer, id }
  }
  /** What the model was shown by turns; checkpoints come when they like. */
  const prompts = (): readonly string[] =>
    (home.anthropic?.ledger.requests() ?? [])
      .filter((one) => !isCheckpoint(one))
      .map(({ messages }) => JSON.stringify(messages))
  return {
    ...{ home, world, ledger, addGroup, answered, exchange, heardAfter },
    say: async (text: string, said?: Said): Promise<string> => (await exchange(text, said)).answer,
    prompts,
    /** What the model was shown by the last turn. */
    prompt: (): string => prompts().at(-1) ?? '',
    /** The rows of a query, as text. */
    rows: (query: string): string =>
      withDatabase(join(home.dataDir, 'parley.db'), (database) => JSON.stringify(database.prepare(query).all())),
  }
}
