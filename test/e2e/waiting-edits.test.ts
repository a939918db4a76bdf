import { describe, expect, it } from 'vitest'
import type { RoutingPolicy } from '../../src/core/policy.ts'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { createGate } from '../../src/rehearsal/deferred.ts'
import { member, owner, policy } from '../fakes/routing-policy.ts'
import { startHousehold } from './household.ts'

const STRANGER = 9_001

/** Edited messages are answered again, and anybody may write. The answer to what says "first" is held. */
async function open(routing: Partial<RoutingPolicy>) {
  const gate = createGate()
  const script: Script = (request) => {
    const text = lastUserText(request)
    return textReply(`heard ${text}`, text.includes('first') ? { holds: [{ beforeDelta: 0, gate }] } : {})
  }
  const house = await startHousehold({
    script,
    streaming: false,
    routing: policy({
      people: [owner('ada', 'telegram:111'), member('bob', 'telegram:444')],
      access: { direct: 'public', groups: [{ match: {}, who: 'public', trigger: 'mention' }] },
      edits: 'rerun',
      ...routing,
    }),
  })
  const { world, ledger } = house.telegram
  world.addUser({ id: STRANGER, firstName: 'Stranger' })
  const { id: club } = world.addChat({ type: 'supergroup', title: 'Club', members: [111, STRANGER] })
  const told = async <Said extends Parameters<typeof ledger.updateIdOf>[0]>(said: Said): Promise<Said> => {
    await ledger.confirmed(ledger.updateIdOf(said))
    return said
  }
  return {
    house,
    club,
    gate,
    say: (from: number, text: string, chat?: number) => told(world.say({ from, text, ...(chat && { chat }) })),
    edit: (message: number, text: string) => told(world.edit({ chat: club, message, text })),
    sent: (chat: number, words: string) =>
      ledger.nextFromBot('sent', { where: (one) => one.chatId === chat && one.text.includes(words) }),
    answers: (chat: number) => world.messages(chat, { by: 'bot' }).map(({ message }) => message.text),
  }
}

describe('an edit that waits for an answer, in a conversation that others share', () => {
  it('is shown to its own turn: a message that was only heard before', async () => {
    const { house, club, gate, say, edit, sent, answers } = await open({ dimensions: [] })
    await say(STRANGER, '@parley_bot first', club)
    await house.anthropic?.ledger.nextAccepted()
    const { message_id } = await say(STRANGER, 'only talk', club)
    await edit(message_id, '@parley_bot edited talk')
    await say(111, 'my secret is bluebird')
    gate.release()
    await sent(111, 'my secret is bluebird')
    await sent(club, 'edited talk')
    expect(answers(club).join()).not.toContain('bluebird')
    expect(answers(111)).toEqual(['heard [Ada] my secret is bluebird'])
  })

  it('is answered once with the edits that come after it', async () => {
    const { house, club, gate, say, edit, sent, answers } = await open({ dimensions: [] })
    const { message_id } = await say(STRANGER, '@parley_bot first', club)
    await house.anthropic?.ledger.nextAccepted()
    await edit(message_id, '@parley_bot one edit')
    await edit(message_id, '@parley_bot another edit')
    await say(111, 'my secret is bluebird')
    gate.release()
    await sent(111, 'my secret is bluebird')
    await sent(club, 'another edit')
    expect(answers(club)).toHaveLength(2)
    expect(answers(club).join()).not.toContain('bluebird')
  })

  it('is answered once with the edits that come after it, where a new conversation was begun since', async () => {
    const { house, club, gate, say, edit, sent, answers } = await open({})
    const { message_id } = await say(111, '@parley_bot a question', club)
    await sent(club, 'a question')
    await say(111, '/new@parley_bot', club)
    await sent(club, 'fresh')
    await say(111, '@parley_bot first', club)
    await house.anthropic?.ledger.nextAccepted({ where: (request) => lastUserText(request).includes('first') })
    await edit(message_id, '@parley_bot one edit')
    const answer = house.daemon.operator.sessions.post(`telegram:group:${club}`, { text: 'a word of the desk' })
    await expect.poll(() => house.daemon.operator.status().then(({ waiting }) => waiting)).toBe(2)
    await edit(message_id, '@parley_bot another edit')
    gate.release()
    await answer
    await sent(club, 'another edit')
    expect(answers(club).filter((text) => text?.includes('edit'))).toHaveLength(1)
    expect(answers(club).join()).not.toContain('without text')
  })

  it('leaves what is asked from elsewhere its own turn', async () => {
    const { house, club, gate, say, edit, sent, answers } = await open({})
    const { message_id } = await say(STRANGER, '@parley_bot first', club)
    await house.anthropic?.ledger.nextAccepted()
    await edit(message_id, '@parley_bot one edit')
    await edit(message_id, '@parley_bot another edit')
    const answer = house.daemon.operator.sessions.post(`telegram:group:${club}`, { text: 'a word of the desk' })
    await expect.poll(() => house.daemon.operator.status().then(({ waiting }) => waiting)).toBe(2)
    gate.release()
    expect(await answer).toMatchObject({ reply: expect.stringContaining('a word of the desk') })
    await sent(club, 'another edit')
    expect(answers(club).join()).not.toContain('desk')
  })
})
