import { describe, expect, it } from 'vitest'
import { toAgentId } from '../../src/core/ids.ts'
import type { HistoryAnswer, SendAnswer, SessionRow } from '../../src/core/session-tools.ts'
import type { MessagesRequest } from '../../src/rehearsal/anthropic/request.ts'
import { lastUserText, type Reply, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { type Household, type HouseholdOptions, startHousehold } from './household.ts'

interface Listed {
  readonly sessions: readonly SessionRow[]
}

const GROUP = -1001000000001
const BOB = 444

/** What the newest tool call answered; undefined where the model is asked for something else. */
function toolResult({ messages }: MessagesRequest): string | undefined {
  const content = messages.at(-1)?.content ?? ''
  const result = typeof content === 'string' ? undefined : content.find(({ type }) => type === 'tool_result')
  if (result === undefined) return undefined
  return typeof result.content === 'string' ? result.content : result.content?.map(({ text }) => text).join('')
}

const calls = (name: string, input: Readonly<Record<string, unknown>>): Reply => ({
  blocks: [{ type: 'tool_use', name, input }],
})

/** Obeys: `<tool> <JSON>` calls it. Everything else it repeats. */
const obedient: Script = (request) => {
  if (toolResult(request) !== undefined) return textReply('done')
  const text = lastUserText(request)
  const [, tool, args] = /^(?:\[Ada\] )?(sessions_\w+) (\{.*\})$/.exec(text) ?? []
  return tool && args ? calls(tool, JSON.parse(args)) : textReply(`heard ${text}`)
}

function household(options: HouseholdOptions = {}): Promise<Household> {
  const agents = [{ id: toAgentId('main'), model: 'anthropic/rehearsal', prompt: 'Obey.', tools: ['sessions'] }]
  return startHousehold({ streaming: false, script: obedient, ...options, config: { agents, ...options.config } })
}

/** What the bot's next whole message in a chat says. */
async function tell({ telegram }: Household, from: number, text: string, chat = from): Promise<string> {
  const mark = telegram.ledger.mark()
  telegram.world.say({ from, text, ...(chat === from ? {} : { chat }) })
  return (await telegram.ledger.nextFromBot('sent', { after: mark, where: ({ chatId }) => chatId === chat })).text
}

/** Has the model call a tool, and returns what that answered. */
async function call<Answer>(house: Household, from: number, tool: string, args: object): Promise<Answer> {
  const answered = house.anthropic?.ledger.nextAccepted({
    after: house.anthropic.ledger.mark(),
    where: (request) => toolResult(request) !== undefined,
  })
  await tell(house, from, `${tool} ${JSON.stringify(args)}`)
  const request = (await answered)?.request
  return JSON.parse((request && toolResult(request)) ?? '{}') as Answer
}

const inChat = ({ telegram }: Household, chat: number): readonly string[] =>
  telegram.world.messages(chat, { by: 'bot' }).map(({ message }) => message.text ?? '')

describe('the sessions tools on Telegram', () => {
  it('T16, S44: the owner asks a group from the direct chat: the answer comes back, and the group sees nothing', async () => {
    const house = await household()
    house.telegram.world.addChat({ type: 'supergroup', title: 'Family', id: GROUP, members: [111, BOB] })
    await tell(house, BOB, '@parley_bot hello', GROUP)
    const request = { sessionKey: `telegram:group:${GROUP}`, message: 'what is for dinner?' }
    const answer = await call<SendAnswer>(house, 111, 'sessions_send', request)
    expect(answer).toMatchObject({ status: 'ok', sessionKey: request.sessionKey })
    expect(answer.status === 'ok' && answer.reply).toContain('> what is for dinner?')
    expect(inChat(house, GROUP)).toHaveLength(1)
  })

  it('S44: with announce the group is told, once, and answers to it make sense there', async () => {
    const house = await household()
    house.telegram.world.addChat({ type: 'supergroup', title: 'Family', id: GROUP, members: [111, BOB] })
    await tell(house, BOB, '@parley_bot hello', GROUP)
    const mark = house.telegram.ledger.mark()
    const request = { sessionKey: `telegram:group:${GROUP}`, message: 'dinner at seven', announce: true }
    await call<SendAnswer>(house, 111, 'sessions_send', request)
    const posted = await house.telegram.ledger.nextFromBot('sent', {
      after: mark,
      where: ({ chatId }) => chatId === GROUP,
    })
    expect(posted.text).toContain('dinner at seven')
    expect(inChat(house, GROUP).filter((text) => text.includes('dinner at seven'))).toHaveLength(1)
  })

  it('S20, T12: each sees what they may: the owner every session, newest first, and a member none of the others', async () => {
    const house = await household()
    await tell(house, BOB, 'hello')
    await tell(house, 111, 'hello')
    const listed = async (from: number): Promise<readonly string[]> => {
      return (await call<Listed>(house, from, 'sessions_list', {})).sessions.map(({ key }) => key)
    }
    expect(await listed(111)).toEqual(['telegram:direct:111', 'telegram:direct:444'])
    expect(await listed(BOB)).toEqual(['telegram:direct:444'])
    const request = { sessionKey: 'telegram:direct:111', message: 'give me your keys' }
    expect(await call<SendAnswer>(house, BOB, 'sessions_send', request)).toMatchObject({
      status: 'error',
      error: 'There is no session telegram:direct:111.',
    })
  })

  it('T6, T35: with global scope all direct chats act on one session, which the tools call main', async () => {
    const house = await household({ routing: { scope: 'global' } })
    await tell(house, BOB, 'a word of Bob')
    const { sessions } = await call<Listed>(house, 111, 'sessions_list', { messageLimit: 1 })
    expect(sessions).toMatchObject([{ key: 'main', kind: 'main' }])
    const { sessionKey, messages } = await call<HistoryAnswer>(house, 111, 'sessions_history', { sessionKey: 'main' })
    expect(sessionKey).toBe('main')
    expect(messages[0]).toMatchObject({ role: 'user', text: 'a word of Bob', from: 'Bob' })
  })
})
