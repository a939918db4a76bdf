import { describe, expect, it } from 'vitest'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import type { MessageEntry, TelegramEntry } from '../../src/rehearsal/telegram/ledger-entries.ts'
import { AwaitedLog } from './awaited-log.ts'
import { type Household, type HouseholdOptions, startHousehold } from './household.ts'

const hear: Script = (request) => textReply(`heard ${lastUserText(request).split('\n').at(-1)}`)

interface Club extends Household {
  readonly forum: number
}

async function club(options: HouseholdOptions = {}): Promise<Club> {
  const house = await startHousehold({ script: hear, streaming: false, ...options })
  const { world } = house.telegram
  const { id: forum } = world.addChat({ type: 'supergroup', title: 'Club', forum: true, members: [444, 555] })
  return Object.assign(house, { forum })
}

/** The bot's message with these words; answers grow by edits. */
function isAnswer(entry: TelegramEntry, words: string): entry is MessageEntry {
  return entry.kind === 'message' && entry.botId !== null && entry.text.includes(words)
}

/** Says it to the bot, waits for the answer, and returns where it stands and everything the model was told. */
async function ask({ telegram, anthropic, forum }: Club, from: number, text: string, topic?: number) {
  telegram.world.say({ from, chat: forum, text: `@parley_bot ${text}`, ...(topic === undefined ? {} : { topic }) })
  const answer = await telegram.ledger.next((entry): entry is MessageEntry => isAnswer(entry, text))
  const request = anthropic?.ledger.requests().find((asked) => lastUserText(asked).includes(text))
  return { place: answer.topic, told: JSON.stringify(request?.messages) }
}

async function keys({ daemon }: Club): Promise<readonly string[]> {
  const { sessions } = await daemon.operator.sessions.list({ limit: 20, offset: 0, inactive: true })
  return sessions.map(({ key }) => key).sort()
}

describe('dispatch rules', () => {
  it('K22: the log and the route say which rule matched', async () => {
    const log = new AwaitedLog()
    const house = await club({ logger: log, routing: { dispatch: [{ name: 'club', match: { channel: 'telegram' } }] } })
    await ask(house, 444, 'hello')
    const { fields } = await log.line('A message was decided')
    expect(fields).toMatchObject({ decision: 'run', matchedBy: 'dispatch.rule:club', agent: 'main' })
    expect(await house.daemon.operator.why(String(fields.traceId))).toMatchObject([
      { steps: expect.arrayContaining([expect.objectContaining({ because: 'dispatch.rule:club: agent main' })]) },
    ])
  })
})

describe('forum topics', () => {
  it('K10: two topics with the same two people, and General, are three sessions', async () => {
    const house = await club()
    const { world } = house.telegram
    const [chess, rowing] = ['chess', 'rowing'].map((name) => world.addTopic({ chat: house.forum, name }))
    const places = [chess, rowing, undefined]
    for (const [index, topic] of places.entries()) {
      await ask(house, 444, `bob first ${index}`, topic)
      await ask(house, 555, `cy first ${index}`, topic)
    }
    for (const [index, topic] of places.entries()) {
      const { place, told } = await ask(house, 444, `bob then ${index}`, topic)
      expect(place).toBe(topic ?? null)
      for (const said of [`bob first ${index}`, `cy first ${index}`]) expect(told).toContain(said)
      for (const other of [0, 1, 2]) if (other !== index) expect(told).not.toContain(`first ${other}`)
    }
    const general = `telegram:group:${house.forum}`
    expect(await keys(house)).toEqual([general, `${general}/${chess}`, `${general}/${rowing}`].sort())
  })

  it('K11: with topic as a dimension the same holds', async () => {
    const house = await club({ routing: { dimensions: ['chat', 'topic'] } })
    const topic = house.telegram.world.addTopic({ chat: house.forum, name: 'chess' })
    await ask(house, 444, 'in the topic', topic)
    const { told } = await ask(house, 444, 'in general')
    expect(told).not.toContain('in the topic')
    const session = await house.daemon.operator.sessions.show(`telegram:group:${house.forum}/${topic}`)
    expect(session.scope).toMatchObject({ values: { chat: `group:${house.forum}`, topic: `topic:${topic}` } })
  })

  it('F-H11: a topic made anew under another id is another session, and nothing crosses', async () => {
    const house = await club()
    const { world } = house.telegram
    const first = world.addTopic({ chat: house.forum, name: 'chess' })
    await ask(house, 444, 'the queen is lost', first)
    world.deleteTopic({ chat: house.forum, topic: first })
    const second = world.addTopic({ chat: house.forum, name: 'chess', announce: true })
    const { place, told } = await ask(house, 444, 'what was lost?', second)
    expect(place).toBe(second)
    expect(told).not.toContain('queen')
    await house.restart()
    expect((await ask(house, 555, 'and now?', second)).told).not.toContain('queen')
    expect(await keys(house)).toEqual([first, second].map((topic) => `telegram:group:${house.forum}/${topic}`).sort())
  })

  it('K20: a rule with mentioned: false keeps what is only overheard apart', async () => {
    const rule = { name: 'overheard', match: { channel: 'telegram', mentioned: false }, dimensions: ['chat', 'sender'] }
    const house = await club({ routing: { dispatch: [rule] } })
    const { world, ledger } = house.telegram
    const aside = world.say({ from: 555, chat: house.forum, text: 'between us' })
    await ledger.confirmed(ledger.updateIdOf(aside))
    const { told } = await ask(house, 444, 'what did Cy say?')
    expect(told).not.toContain('between us')
    const [why] = await house.daemon.operator.why(String(aside.message_id))
    expect(why?.steps).toContainEqual(
      expect.objectContaining({ stage: 'dispatch', because: expect.stringContaining('dispatch.rule:overheard') }),
    )
    expect(await keys(house)).toEqual([`telegram:group:${house.forum}`, `telegram:group:${house.forum}|sender=555`])
  })
})
