import { describe, expect, it } from 'vitest'
import { toAgentId } from '../../src/core/ids.ts'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { createGate } from '../../src/rehearsal/deferred.ts'
import { member, owner, policy } from '../fakes/routing-policy.ts'
import { startDiscordHousehold } from './discord-household.ts'
import { parley } from './house-command.ts'
import { recorded, startHousehold } from './household.ts'
import { toolResult } from './obedient.ts'
import { startSlackHousehold } from './slack-household.ts'

const agents = [{ id: toAgentId('main'), model: 'anthropic/rehearsal', prompt: 'Obey.', tools: ['react'] }]
const access = { direct: 'owner', groups: [{ match: {}, who: 'public', trigger: 'mention' }] } as const

/** `put 👍` has it react to that, `put 👍 on milk` to what has the word. */
const scripted =
  (gate = createGate()): Script =>
  (request) => {
    const result = toolResult(request)
    if (result !== undefined) return textReply(`it says: ${result}`)
    const [, emoji, to] = /put (\S+)(?: on (\w+))?$/.exec(lastUserText(request)) ?? []
    if (emoji === undefined) return textReply('fine')
    const input = to === undefined ? { emoji } : { emoji, to }
    const held = lastUserText(request).includes('slowly') ? { holds: [{ beforeDelta: 0, gate }] } : {}
    return { blocks: [{ type: 'tool_use', name: 'react', input }], ...held }
  }

async function household(gate = createGate()) {
  const house = await startHousehold({
    ...{ script: scripted(gate), streaming: false, config: { agents } },
    routing: policy({ people: [owner('ada', 'telegram:111'), member('bob', 'telegram:444')], access }),
  })
  const { world, ledger } = house.telegram
  const say = async (text: string, words: string) => {
    const after = ledger.mark()
    const { message_id: id } = world.say({ from: 111, text })
    const where = ({ text: said }: { text: string }) => said.includes(words)
    return { id, text: (await ledger.nextFromBot('sent', { after, where })).text }
  }
  const on = (id: number) => [
    ...(world
      .messages(111)
      .find(({ message }) => message.message_id === id)
      ?.reactions.values() ?? []),
  ]
  return { house, say, on }
}

describe('an emoji of the agent', () => {
  it('S7: stands on the message that is answered, or on the one that is named by its words', async () => {
    const { say, on } = await household()
    const milk = await say('buy milk', 'fine')
    const asked = await say('put ❤️', 'it says')
    expect(asked.text).toContain('That is no answer')
    expect(on(asked.id)).toEqual(['❤'])
    await say('put 👀 on milk', 'it says')
    expect(on(milk.id)).toEqual(['👀'])
    await say('put 👀 on buy', 'it says: 👀 stands there')
    expect(on(milk.id)).toEqual(['👀'])
    expect((await say('put 👀 on honey', 'it says')).text).toContain('There is no such message')
  })

  it('S7: that the platform does not have is refused in words, with those it has', async () => {
    const { say, on } = await household()
    const { id, text } = await say('put 🥒', 'it says')
    expect(text).toContain('Telegram has only ❤ 👍')
    expect(on(id)).toEqual([])
    expect((await say('put hello', 'it says')).text).toContain('must be one emoji')
  })

  it('S7: stands on no message of another conversation from which a session was continued', async () => {
    const { house } = await household()
    const { world, ledger } = house.telegram
    const add = (title: string) => world.addChat({ type: 'supergroup', title, members: [111, 444] }).id
    const [family, club] = [add('Family'), add('Club')]
    const say = async (from: number, chat: number, text: string) => {
      const after = ledger.mark()
      const { message_id: id } = world.say({ from, chat, text: `@parley_bot ${text}` })
      const { text: answer } = await ledger.nextFromBot('sent', { after })
      await recorded(house)
      return { id, answer }
    }
    const { id: milk } = await say(111, family, 'buy milk')
    const fork = ['sessions', 'fork', `telegram:group:${family}`, `telegram:group:${club}`, '--yes']
    expect((await parley(house.config, fork)).code).toBe(0)
    expect((await say(444, club, 'hello')).id, 'the numbers of the two messages').toBe(milk)
    expect((await say(111, club, 'put 👀 on milk')).answer).toContain('There is no such message')
    expect(ledger.all((entry) => entry.kind === 'call' && entry.method === 'setMessageReaction')).toEqual([])
  })

  it('S7: stands on no message of a group from before it became a supergroup', async () => {
    const { house } = await household()
    const { world, ledger } = house.telegram
    const old = -2001
    world.addChat({ type: 'group', title: 'Garden', id: old, members: [111, 444] })
    const say = async (chat: number, text: string) => {
      const after = ledger.mark()
      world.say({ from: 111, chat, text: `@parley_bot ${text}` })
      return (await ledger.nextFromBot('sent', { after })).text
    }
    await say(old, 'buy milk')
    const { id } = world.migrate(old)
    await say(id, 'hello')
    expect(await say(id, 'put 👀 on milk')).toContain('There is no such message')
    expect(await say(id, 'put 👀 on hello')).toContain('stands there')
    expect(ledger.all((entry) => entry.kind === 'call' && entry.method === 'setMessageReaction')).toHaveLength(1)
  })

  it('T31: is not put where nothing may be said', async () => {
    const gate = createGate()
    const { house, say, on } = await household(gate)
    const { world, ledger } = house.telegram
    const { message_id: id } = world.say({ from: 111, text: 'slowly put 👍' })
    await gate.reached
    await say('/send off', 'I say nothing here')
    const after = house.anthropic?.ledger.mark() ?? 0
    gate.release()
    // The model is told what came of the call.
    await house.anthropic?.ledger.next((entry) => entry.kind === 'accepted', { after })
    await say('/send on', '')
    await say('hello', 'fine')
    expect(ledger.all((entry) => entry.kind === 'call' && entry.method === 'setMessageReaction')).toEqual([])
    expect(on(id)).toEqual([])
  })

  it('S7: is put on Slack by its name, where that is known', async () => {
    const { slack } = await startSlackHousehold({
      ...{ script: scripted(), agents },
      routing: policy({ people: [owner('ada', 'slack:T01/U333')], access }),
    })
    const { world, ledger } = slack
    const { id: channel } = world.addChannel({ name: 'paint', members: ['U333'] })
    const asked = world.say({ from: 'U333', channel, text: '<@U0BOT> put 👍' })
    await ledger.nextFromBot('sent', { where: ({ text }) => text.includes('stands there') })
    const reactions = (ts: string) => world.messages(channel).find(({ message }) => message.ts === ts)?.reactions
    expect([...(reactions(asked.ts) ?? [])]).toEqual(['thumbsup'])
    world.say({ from: 'U333', channel, text: '<@U0BOT> put 🥒' })
    await ledger.nextFromBot('sent', { where: ({ text }) => text.includes('no name of 🥒') })
  })

  it('S7: is put on Discord', async () => {
    const { discord, channel } = await startDiscordHousehold({
      ...{ script: scripted(), agents },
      routing: policy({ people: [owner('ada', 'discord:222')], access }),
    })
    const { world, ledger } = discord
    const asked = world.say({ from: '222', channel, text: '<@900000000000000001> put 🥒' })
    await ledger.nextFromBot('sent', { where: ({ text }) => text.includes('stands there') })
    const stored = world.messages(channel).find(({ message }) => message.id === asked.id)
    expect([...(stored?.reactions ?? [])]).toEqual(['🥒'])
  })
})
