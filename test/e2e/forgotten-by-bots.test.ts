import { describe, expect, it } from 'vitest'
import { toAgentId } from '../../src/core/ids.ts'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { holding } from './forgetting-house.ts'
import { toolResult } from './obedient.ts'
import { setClock } from './set-clock.ts'
import { twoBots } from './two-bots.ts'

const CANARY = 'canaryboth'

/** Every way to have words of the group forgotten, said to one of two bots that have heard them. */
const WAYS: Readonly<Record<string, readonly [request: string, from: number]>> = {
  'the last message': ['/forget@parley_bot last', 444],
  'their own words there': ['/forget@parley_bot me here yes', 444],
  'a span of their own words': ['/forget@parley_bot 2h yes', 444],
  'a span of the chat': ['/forget@parley_bot 2h yes', 111],
  'the chat': ['/forget@parley_bot chat yes', 111],
  'what they said anywhere': ['/forget@parley_bot me yes', 444],
}

describe.each([
  ['in a group that numbers messages once', false],
  ['in a small group, where each bot numbers messages by itself', true],
] as const)('%s', (_where, small) => {
  it.each(Object.entries(WAYS))('S41: %s is forgotten by both bots that have heard it', async (_, [request, from]) => {
    const { ask, aside, prompts, home } = await twoBots({ small })
    await ask('sage', '@sage_bot hello')
    await ask('parley', '@parley_bot hello')
    await aside(`the key is ${CANARY}`, 444)
    await ask('sage', '@sage_bot well?')
    expect(prompts().at(-1)).toContain(CANARY)
    const { answer } = await ask('parley', request, { from })
    expect(answer).toMatch(/^Forgotten: /)
    await ask('sage', '@sage_bot and now?')
    expect(prompts().at(-1)).not.toContain(CANARY)
    expect(holding(home.dataDir, CANARY)).toEqual([])
  })

  it('S41: a message that is replied to is forgotten by both bots that have heard it', async () => {
    const { ask, aside, prompts, home } = await twoBots({ small })
    await ask('sage', '@sage_bot hello')
    const replyTo = await aside(`the key is ${CANARY}`, 444)
    await ask('sage', '@sage_bot well?')
    const { answer } = await ask('parley', '/forget@parley_bot', { from: 444, replyTo })
    expect(answer).toMatch(/^Forgotten: .*2 received messages/)
    await ask('sage', '@sage_bot and now?')
    expect(prompts().at(-1)).not.toContain(CANARY)
    expect(holding(home.dataDir, CANARY)).toEqual([])
  })

  it('S41: a stranger’s message goes from the bot that has heard it, though the one that is asked has left it alone', async () => {
    const groups = [
      { match: { account: 'sage' }, who: 'public', trigger: 'mention' },
      { match: {}, who: 'allowlist', trigger: 'mention' },
    ] as const
    const routing = { ownerAlwaysTriggers: false, access: { direct: 'allowlist', groups } } as const
    const { ask, prompts, home, chat, world } = await twoBots({ small, routing })
    world.addUser({ id: 777, firstName: 'Eve' })
    world.setMember({ chat, user: 777, status: 'member' })
    await ask('parley', '@parley_bot hello')
    const { id: replyTo } = await ask('sage', `@sage_bot the key is ${CANARY}`, { from: 777 })
    const { answer } = await ask('parley', '/forget@parley_bot', { replyTo })
    expect(answer).toMatch(/^Forgotten: .*2 received messages/)
    await ask('sage', '@sage_bot and now?', { replyTo })
    expect(prompts().at(-1)).not.toContain(CANARY)
    await ask('parley', '@parley_bot and you?', { replyTo })
    expect(holding(home.dataDir, CANARY)).toEqual([])
  })

  it('S41: of what was forwarded at once the one goes that is replied to, and the rest stays with both bots', async () => {
    const { ask, home, world, chat, prompts } = await twoBots({ small })
    await ask('sage', '@sage_bot hello')
    await ask('parley', '@parley_bot hello')
    const forward = (text: string) => {
      const forward_origin = { type: 'hidden_user', sender_user_name: 'Dee', date: 1 }
      return world.say({ from: 444, chat, text, extra: { forward_origin } }).message_id
    }
    const replyTo = forward(`the key is ${CANARY}`)
    forward('the weather is fine')
    await ask('sage', '@sage_bot well?')
    const { answer } = await ask('parley', '/forget@parley_bot', { from: 444, replyTo })
    expect(answer).toMatch(/^Forgotten: .*2 received messages/)
    for (const bot of ['sage', 'parley'] as const) {
      await ask(bot, `@${bot}_bot and now?`)
      expect(prompts().at(-1)).toContain('the weather is fine')
    }
    expect(holding(home.dataDir, CANARY)).toEqual([])
  })

  it.each(['telegram', 'telegram@sage'])(
    'S41: by its name at %s the operator means the group, whichever bot hears it',
    async (at) => {
      const { ask, aside, home, chat } = await twoBots({ small })
      await ask('sage', '@sage_bot hello')
      await ask('parley', '@parley_bot hello')
      await aside(`the key is ${CANARY}`, 444)
      await home.daemon.operator.forgetting.forget({ kind: 'chat', name: `${at}:group:${chat}`, confirmed: true })
      await expect.poll(() => holding(home.dataDir, CANARY)).toEqual([])
    },
  )

  it('S41: a reply to a forgotten message brings its words to no other bot, which had not received it', async () => {
    const { ask, aside, prompts, home } = await twoBots({ small, isPrivate: true })
    await ask('parley', '@parley_bot hello')
    const replyTo = await aside(`the key is ${CANARY}`, 444)
    expect((await ask('parley', '/forget@parley_bot last', { from: 444 })).answer).toMatch(/^Forgotten: /)
    await ask('sage', '@sage_bot what of this?', { from: 444, replyTo })
    expect(prompts().at(-1)).not.toContain(CANARY)
    expect(holding(home.dataDir, CANARY)).toEqual([])
  })

  it('S41: nor does a reply to an answer that is too old to be deleted', async () => {
    const clock = setClock('2026-11-24T09:20:00Z')
    const { ask, prompts, home } = await twoBots({ small, isPrivate: true, clock })
    const { answerId } = await ask('parley', `@parley_bot the key is ${CANARY}`, { from: 444 })
    clock.skip(3 * 86_400_000)
    expect((await ask('parley', '/forget@parley_bot last', { from: 444 })).answer).toMatch(/^Forgotten: /)
    await ask('sage', '@sage_bot what of this?', { from: 444, replyTo: answerId })
    expect(prompts().at(-1)).not.toContain(CANARY)
    expect(holding(home.dataDir, CANARY)).toEqual([])
  })

  it('S41: a quotation goes from the session of a bot that has not received the message itself', async () => {
    const { ask, aside, prompts, home } = await twoBots({ small, isPrivate: true })
    await ask('parley', '@parley_bot hello')
    const replyTo = await aside(`the key is ${CANARY}`, 444)
    await ask('sage', '@sage_bot what of this?', { from: 555, replyTo })
    expect(prompts().at(-1)).toContain(CANARY)
    const { answer } = await ask('parley', '/forget@parley_bot last', { from: 444 })
    expect(answer).toMatch(/^Forgotten: .*quotations by others/)
    await ask('sage', '@sage_bot and now?', { from: 555 })
    expect(prompts().at(-1)).not.toContain(CANARY)
    expect(holding(home.dataDir, CANARY)).toEqual([])
  })

  it('S41: so does what somebody has quoted to it of an answer of the other bot', async () => {
    const { ask, prompts, home } = await twoBots({ small, isPrivate: true })
    const { answerId } = await ask('parley', `@parley_bot the key is ${CANARY}`, { from: 444 })
    await ask('sage', '@sage_bot what of this?', { from: 555, replyTo: answerId })
    expect(prompts().at(-1)).toContain(CANARY)
    expect((await ask('parley', '/forget@parley_bot last', { from: 444 })).answer).toMatch(/^Forgotten: /)
    await ask('sage', '@sage_bot and now?', { from: 555 })
    expect(prompts().at(-1)).not.toContain(CANARY)
    expect(holding(home.dataDir, CANARY)).toEqual([])
  })

  it('S41: so does a file that the other bot has sent, with what was read in it', async () => {
    const script: Script = (request) => {
      const isAsked = lastUserText(request).endsWith('where is the key?')
      if (!isAsked || toolResult(request) !== undefined) return textReply('fine')
      const input = { name: `${CANARY}.txt`, text: `it is in ${CANARY}` }
      return { blocks: [{ type: 'tool_use', name: 'send_file', input }] }
    }
    const agents = [{ id: toAgentId('main'), model: 'anthropic/rehearsal', prompt: 'Obey.', tools: ['files'] }]
    const { ask, prompts, home, ledger, world, chat } = await twoBots({
      small,
      isPrivate: true,
      script,
      config: { agents },
    })
    const after = ledger.mark()
    const sent = ledger.nextFromBot('sent', { after, where: ({ file }) => file !== undefined })
    world.say({ from: 444, chat, text: '@parley_bot where is the key?' })
    const { messageId: replyTo } = await sent
    await ledger.nextFromBot('sent', { after, where: ({ text }) => text === 'fine' })
    await ask('sage', '@sage_bot what of this?', { from: 555, replyTo })
    expect(prompts().at(-1)).toContain(`it is in ${CANARY}`)
    expect((await ask('parley', '/forget@parley_bot last', { from: 444 })).answer).toMatch(/quotations by others/)
    await ask('sage', '@sage_bot and now?', { from: 555 })
    expect(prompts().at(-1)).not.toContain(CANARY)
    expect(holding(home.dataDir, CANARY)).toEqual([])
  })

  it('S41: a message that comes late to the other bot is not kept', async () => {
    const { ask, home, heldBack, prompts } = await twoBots({ small })
    await ask('parley', '@parley_bot hello')
    const late = await heldBack('sage')
    await ask('parley', `@parley_bot the key is ${CANARY}`, { from: 444 })
    expect((await ask('parley', '/forget@parley_bot last', { from: 444 })).answer).toMatch(/^Forgotten: /)
    late.release()
    await ask('sage', '@sage_bot and now?', { from: 555 })
    expect(prompts().at(-1)).not.toContain(CANARY)
    expect(holding(home.dataDir, CANARY)).toEqual([])
  })

  it('S41: an edit brings its words to no other bot, which had not received it, though it comes there first', async () => {
    const clock = setClock('2026-11-24T09:20:00Z')
    const { ask, aside, prompts, home, heldBack, world, chat } = await twoBots({ small, isPrivate: true, clock })
    await ask('parley', '@parley_bot hello')
    const message = await aside(`the key is ${CANARY}`)
    expect((await ask('parley', '/forget@parley_bot last')).answer).toMatch(/^Forgotten: /)
    const late = await heldBack('parley')
    clock.skip(5000)
    world.edit({ chat, message, text: `@sage_bot the key is ${CANARY}` })
    await ask('sage', '@sage_bot and now?')
    late.release()
    await ask('parley', '@parley_bot and now?')
    expect(prompts().filter((prompt) => prompt.includes(CANARY))).toEqual([])
    expect(holding(home.dataDir, CANARY)).toEqual([])
  })

  it('S41: nor is one that comes late after another of its second, which has its words', async () => {
    const clock = setClock('2026-11-24T09:20:00Z')
    const { ask, home, heldBack, prompts } = await twoBots({ small, isPrivate: true, clock })
    const late = await heldBack('parley')
    await ask('sage', `@sage_bot the key is ${CANARY}`)
    expect((await ask('sage', '/forget@sage_bot last')).answer).toMatch(/^Forgotten: /)
    late.release()
    await ask('parley', '@parley_bot and now?')
    expect(prompts().at(-1)).not.toContain(CANARY)
    expect(holding(home.dataDir, CANARY)).toEqual([])
  })
})

describe('in a small group that becomes a supergroup', () => {
  /** Two bots of which the second receives nothing from a message of Bob’s on, until the group has its new id. */
  async function upgraded() {
    const house = await twoBots({ small: true })
    const { ask, heldBack, world, ledger, chat, PARLEY, SAGE } = house
    await ask('parley', '@parley_bot hello')
    const late = await heldBack('sage')
    await ask('parley', `@parley_bot the key is ${CANARY}`, { from: 444 })
    /** Says something in the supergroup and returns what this bot answers. */
    const askThere = async (bot: 'parley' | 'sage', text: string, from = 111) => {
      const after = ledger.mark()
      world.say({ from, chat: there, text })
      const botId = bot === 'sage' ? SAGE : PARLEY
      return (await ledger.nextFromBot('sent', { after, where: (entry) => entry.botId === botId })).text
    }
    let there = chat
    const upgrade = async () => {
      there = world.migrate(chat).id
      await askThere('parley', '@parley_bot here we are')
    }
    return { ...house, late, upgrade, askThere }
  }

  it('S41: a message that comes late to the other bot is not kept', async () => {
    const { ask, home, late, upgrade, askThere, prompts } = await upgraded()
    expect((await ask('parley', '/forget@parley_bot last', { from: 444 })).answer).toMatch(/^Forgotten: /)
    await upgrade()
    late.release()
    await askThere('sage', '@sage_bot and now?')
    expect(prompts().at(-1)).not.toContain(CANARY)
    expect(holding(home.dataDir, CANARY)).toEqual([])
  })

  it('S41: one that has come late to the other bot is forgotten by both', async () => {
    const { home, late, upgrade, askThere, prompts } = await upgraded()
    await upgrade()
    late.release()
    await askThere('sage', '@sage_bot well?')
    expect(prompts().at(-1)).toContain(CANARY)
    expect(await askThere('sage', '/forget@sage_bot last', 444)).toMatch(/^Forgotten: /)
    await askThere('parley', '@parley_bot and now?')
    expect(prompts().at(-1)).not.toContain(CANARY)
    expect(holding(home.dataDir, CANARY)).toEqual([])
  })
})
