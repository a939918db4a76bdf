import { describe, expect, it } from 'vitest'
import { toAgentId } from '../../src/core/ids.ts'
import type { Tool } from '../../src/core/turn.ts'
import { type Reply, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { type Deferred, deferred } from '../../src/rehearsal/deferred.ts'
import type { MessageEntry } from '../../src/rehearsal/telegram/ledger-entries.ts'
import { type Household, recorded, startHousehold } from './household.ts'

const LINE = 'searching the web …'
/** Stands for a message that was deleted. */
const GONE = '(deleted)'

interface Searching extends Household {
  /** Lets the search end. */
  readonly found: Deferred<void>
  readonly group: number
}

/** An agent that searches at the first word, with an answer once the search has ended. */
async function searching(answer: string | Reply = 'It is sunny.', said = ''): Promise<Searching> {
  const found = deferred<void>()
  const search: Tool = {
    spec: { name: 'web_search', description: 'Searches.', parameters: { type: 'object' } },
    class: 'pure',
    reach: 'inside',
    doing: 'searching the web',
    async run() {
      await found.promise
      return 'sunny'
    },
  }
  const script: Script = ({ messages }) =>
    JSON.stringify(messages.at(-1)).includes('tool_result')
      ? typeof answer === 'string'
        ? textReply(answer)
        : answer
      : {
          blocks: [...(said === '' ? [] : textReply(said).blocks), { type: 'tool_use', name: 'web_search', input: {} }],
        }
  const home = await startHousehold({
    ...{ script, tools: { web: [search] }, delivery: { liveAfterMs: 0 } },
    config: { agents: [{ id: toAgentId('main'), model: 'anthropic/rehearsal', prompt: '', tools: ['web'] }] },
  })
  const { id: group } = home.telegram.world.addChat({ type: 'group', title: 'Family', members: [111, 444] })
  return Object.assign(home, { found, group })
}

/** Resolves with the first message of the bot that reads like this, sent or edited, or that is taken away. */
const shown = ({ telegram }: Household, words: string, chat?: number) =>
  telegram.ledger.next(
    (entry): entry is MessageEntry =>
      entry.kind === 'message' &&
      entry.botId !== null &&
      (chat === undefined || entry.chatId === chat) &&
      (words === GONE ? entry.change === 'deleted' : entry.text.includes(words)),
  )

const texts = ({ telegram }: Household, chat: number) =>
  telegram.world.messages(chat, { by: 'bot' }).map(({ message }) => message.text)

describe('a line says what the agent does while a tool runs', () => {
  it('T37: in a direct chat, and the answer takes its place', async () => {
    const home = await searching()
    const line = shown(home, LINE)
    home.telegram.world.say({ from: 111, text: 'How is the weather?' })
    await line
    expect(texts(home, 111)).toEqual([LINE])
    const answer = shown(home, 'sunny')
    home.found.resolve()
    await answer
    await recorded(home)
    expect(texts(home, 111)).toEqual(['It is sunny.'])
  })

  it('T37: below what the model has said before', async () => {
    const home = await searching('It is sunny.', 'Let me look.')
    const line = shown(home, LINE)
    home.telegram.world.say({ from: 111, text: 'How is the weather?' })
    expect((await line).text).toBe(`Let me look.\n\n${LINE}`)
    home.found.resolve()
    await shown(home, 'sunny')
    await recorded(home)
    expect(texts(home, 111)).toEqual(['It is sunny.'])
  })

  it('T37: and is removed where the agent then says nothing', async () => {
    const home = await searching('<NO_REPLY>')
    const line = shown(home, LINE)
    home.telegram.world.say({ from: 111, text: 'How is the weather?' })
    await line
    const gone = shown(home, GONE)
    home.found.resolve()
    await gone
    await recorded(home)
    expect(texts(home, 111)).toEqual([])
  })

  it('T37: and is removed where the turn is stopped', async () => {
    const home = await searching()
    const line = shown(home, LINE)
    home.telegram.world.say({ from: 111, text: 'How is the weather?' })
    await line
    const [gone, stopped] = [shown(home, GONE), shown(home, 'Stopped.')]
    home.telegram.world.say({ from: 111, text: '/stop' })
    await Promise.all([gone, stopped])
    await recorded(home)
    expect(texts(home, 111)).toEqual(['Stopped.'])
  })

  it('T37: and a failure takes its place', async () => {
    const failing: Reply = { error: { status: 400, type: 'invalid_request_error' } }
    const home = await searching(failing)
    const line = shown(home, LINE)
    home.telegram.world.say({ from: 111, text: 'How is the weather?' })
    await line
    const failed = shown(home, 'did not take this conversation')
    home.found.resolve()
    await failed
    await recorded(home)
    expect(texts(home, 111)).toHaveLength(1)
    expect(texts(home, 111)[0]).not.toContain(LINE)
  })

  it('T37: not in a group, and not where it was turned off', async () => {
    const home = await searching()
    const off = shown(home, 'is off here')
    home.telegram.world.say({ from: 111, text: '/verbose off' })
    await off
    const { ledger, world } = home.telegram
    world.say({ from: 111, text: 'How is the weather?' })
    world.say({ from: 111, chat: home.group, text: '@parley_bot how is the weather?' })
    const answers = [111, home.group].map((chat) => shown(home, 'sunny.', chat))
    home.found.resolve()
    await Promise.all(answers)
    await recorded(home)
    expect(JSON.stringify(ledger.entries)).not.toContain(LINE)
  })

  it('T37: in a group that asked for it', async () => {
    const home = await searching()
    const on = shown(home, 'is on here')
    home.telegram.world.say({ from: 111, chat: home.group, text: '/verbose@parley_bot on' })
    await on
    const line = shown(home, LINE)
    home.telegram.world.say({ from: 111, chat: home.group, text: '@parley_bot how is the weather?' })
    await line
    const answer = shown(home, 'It is sunny.')
    home.found.resolve()
    expect((await answer).text).toBe('used web_search\n\nIt is sunny.')
  })
})
