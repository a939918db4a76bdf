import { describe, expect, it } from 'vitest'
import type { MessagesRequest } from '../../src/rehearsal/anthropic/request.ts'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { type Household, startHousehold } from './household.ts'

/** Answers with what it was asked, silent when nobody spoke to it. */
const attentive: Script = (request) => {
  const text = lastUserText(request)
  return textReply(text.split('\n').at(-1)?.includes('[not directed at you]') ? '<NO_REPLY>' : `heard ${text}`)
}

async function family(): Promise<Household & { chat: number }> {
  const house = await startHousehold({ script: attentive, streaming: false })
  const { id } = house.telegram.world.addChat({ type: 'supergroup', title: 'Family', members: [111, 444, 555] })
  return Object.assign(house, { chat: id })
}

function userTexts(request: MessagesRequest | undefined): unknown[] {
  return (request?.messages ?? []).filter(({ role }) => role === 'user').map(({ content }) => content)
}

describe('a Telegram group', () => {
  it('S25: a mention by a non-owner is answered, an unaddressed message is stored and is not', async () => {
    const { telegram, anthropic, chat, daemon } = await family()
    const overheard = telegram.world.say({ from: 444, chat, text: 'dinner at seven' })
    telegram.world.say({ from: 444, chat, text: '@parley_bot when is dinner?' })
    const answer = await telegram.ledger.nextFromBot('sent')
    expect(answer.text).toContain('when is dinner?')
    expect(anthropic?.ledger.requests()).toHaveLength(1)
    expect(await daemon.operator.why(String(overheard.message_id))).toMatchObject([
      { decision: 'context', outcome: 'context' },
    ])
  })

  it('S27: what was said before and by whom is in the next prompt', async () => {
    const { telegram, anthropic, chat } = await family()
    telegram.world.say({ from: 444, chat, text: 'dinner at seven' })
    telegram.world.say({ from: 555, chat, text: '@parley_bot when?' })
    await telegram.ledger.nextFromBot('sent')
    expect(JSON.stringify(userTexts(anthropic?.ledger.requests()[0]))).toContain(
      '[Bob] [not directed at you] dinner at seven\\n[Cy] @parley_bot when?',
    )
  })

  it('S24: an owner message triggers with and without a mention', async () => {
    const { telegram, anthropic, chat } = await family()
    telegram.world.say({ from: 111, chat, text: 'just thinking aloud' })
    await anthropic?.ledger.nextAccepted()
    telegram.world.say({ from: 111, chat, text: '@parley_bot and you?' })
    expect((await telegram.ledger.nextFromBot('sent')).text).toContain('and you?')
    expect(anthropic?.ledger.requests()).toHaveLength(2)
  })

  it('S26: the tag of an unaddressed owner message is in the model input and not in the store', async () => {
    const { telegram, anthropic, chat, daemon } = await family()
    telegram.world.say({ from: 111, chat, text: 'just thinking aloud' })
    const accepted = await anthropic?.ledger.nextAccepted()
    expect(JSON.stringify(userTexts(accepted?.request))).toContain('[Ada] [not directed at you] just thinking aloud')
    const { events } = await daemon.operator.sessions.show(`telegram:group:${chat}`)
    expect(events.find(({ type }) => type === 'user_message')?.text).toBe('Ada: just thinking aloud')
  })

  it('S28: a reply that is only a marker sends nothing', async () => {
    const { telegram, anthropic, chat } = await family()
    telegram.world.say({ from: 111, chat, text: 'just thinking aloud' })
    await anthropic?.ledger.nextEnded()
    telegram.world.say({ from: 444, chat, text: '@parley_bot hello' })
    await telegram.ledger.nextFromBot('sent')
    expect(telegram.world.messages(chat, { by: 'bot' })).toHaveLength(1)
  })

  it('a reply to the bot is addressed to it', async () => {
    const { telegram, chat } = await family()
    telegram.world.say({ from: 444, chat, text: '@parley_bot hello' })
    const { messageId } = await telegram.ledger.nextFromBot('sent')
    const mark = telegram.ledger.mark()
    telegram.world.say({ from: 444, chat, text: 'thanks', replyTo: messageId })
    expect((await telegram.ledger.nextFromBot('sent', { after: mark })).text).toContain('thanks')
  })

  it('K10: two topics of one forum and General are three sessions, each answered where it was asked', async () => {
    const { telegram, anthropic, daemon } = await family()
    const forum = telegram.world.addChat({ type: 'supergroup', title: 'Club', forum: true, members: [444] })
    const topics = [
      telegram.world.addTopic({ chat: forum, name: 'A' }),
      telegram.world.addTopic({ chat: forum, name: 'B' }),
      undefined,
    ]
    for (const topic of topics) {
      const mark = telegram.ledger.mark()
      telegram.world.say({ from: 444, chat: forum, text: '@parley_bot here', ...(topic ? { topic } : {}) })
      const answer = await telegram.ledger.nextFromBot('sent', { after: mark })
      expect(answer).toMatchObject({ chatId: forum.id, topic: topic ?? null })
    }
    expect(anthropic?.ledger.requests().map(({ messages }) => messages.length)).toEqual([1, 1, 1])
    const { sessions } = await daemon.operator.sessions.list({ limit: 50, offset: 0, inactive: false })
    expect(new Set(sessions.map(({ key }) => key))).toEqual(
      new Set([
        `telegram:group:${forum.id}`,
        `telegram:group:${forum.id}/${topics[0]}`,
        `telegram:group:${forum.id}/${topics[1]}`,
      ]),
    )
  })
})
