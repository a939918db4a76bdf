import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { RoutingPolicy } from '../../src/core/policy.ts'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { forgettingHouse, holding } from './forgetting-house.ts'
import { parley } from './house-command.ts'
import { recorded } from './household.ts'
import { startSlackHousehold } from './slack-household.ts'

const CANARY = 'zq9canary-4711'
const script: Script = (request) => textReply(`heard ${lastUserText(request).split('\n').at(-1)}`)

async function house(routing: Partial<RoutingPolicy> = {}) {
  const { exchange, ...house } = await forgettingHouse({ script, routing })
  const held = (words = CANARY) => holding(house.home.dataDir, words)
  return { ...house, exchange, held }
}

describe('what was forgotten comes back by no other way', () => {
  it('S41: /retry and /undo mean the exchange before it; no model is asked about nothing', async () => {
    const { home, world, ledger, say, exchange, prompt } = await house()
    await say('first words')
    const { id } = await exchange(`my code is ${CANARY}`)
    await say('/forget last')
    const after = ledger.mark()
    expect(await say('/retry')).toBe('I am answering that once more.')
    await ledger.nextFromBot('sent', { after, where: ({ text }) => text === 'heard first words' })
    await recorded(home)
    expect(prompt()).toMatch(/first words[^{}]*"[^{}]*cache_control/)
    world.edit({ chat: 111, message: id, text: `my code is ${CANARY} still` })
    await say('and now?')
    expect(prompt()).toContain('first words')
    expect(prompt()).not.toContain(CANARY)
    await say('/forget last')
    expect(await say('/undo')).toContain('Taken back')
    await say('what is left?')
    expect(prompt()).not.toContain('first words')
  })

  it('S41: there is nothing to answer again in a chat that was forgotten', async () => {
    const { say, prompts } = await house()
    await say(`my code is ${CANARY}`)
    await say('/forget chat yes')
    const before = prompts().length
    expect(await say('/retry')).toBe('There is nothing to answer again here.')
    expect(await say('/undo')).toBe('There is nothing to take back here.')
    expect(prompts()).toHaveLength(before)
  })

  it.each(['update', 'rerun'] as const)(
    'S41: a late edit of it leaves no byte and gets no answer (edits: %s)',
    async (edits) => {
      const { world, say, exchange, prompts, held } = await house({ edits })
      const { id } = await exchange(`my code is ${CANARY}`)
      await say('/forget last')
      const before = prompts().length
      world.edit({ chat: 111, message: id, text: `my code is ${CANARY}, really` })
      await say('and now?')
      expect(prompts()).toHaveLength(before + 1)
      expect(prompts().at(-1)).not.toContain(CANARY)
      expect(held()).toEqual([])
      expect(await say(`/why ${id}`)).toContain('Forgotten')
    },
  )

  it('S41: a reply to it quotes nothing of it', async () => {
    const { say, exchange, prompt, held } = await house()
    const { id } = await exchange(`my code is ${CANARY}`)
    const { id: kept } = await exchange('a plain word')
    await say(`/forget ${id}`)
    await say('what was that?', { replyTo: id })
    expect(prompt()).toContain('what was that?')
    expect(prompt()).not.toContain(CANARY)
    expect(held()).toEqual([])
    await say('and that?', { replyTo: kept })
    expect(prompt()).toContain('a plain word] and that?')
  })

  it('S41: what a chat has by a fork goes with it, and stays where it was said', async () => {
    const { home, say, addGroup, prompt } = await house()
    const [family, club] = [addGroup('Family'), addGroup('Club')]
    await say(`my code is ${CANARY}`, { chat: family })
    const [from, to] = [`telegram:group:${family}`, `telegram:group:${club}`]
    await parley(home.config, ['sessions', 'fork', from, to, '--yes'])
    await say('one', { chat: club })
    expect(prompt()).toContain(CANARY)
    await say('/forget chat yes', { chat: club })
    await say('two', { chat: club })
    expect(prompt()).not.toContain(CANARY)
    await say('three', { chat: family })
    expect(prompt().split(CANARY)).toHaveLength(3)
  })

  it('S41: what a chat has by an import goes with it, and from the imported session too', async () => {
    const { home, say, prompt, held } = await house()
    await home.daemon.stop()
    await parley(home.config, ['import', join(import.meta.dirname, '../fixtures/imports/openclaw')])
    await home.restart()
    await say('and when does it leave?')
    expect(prompt()).toContain('Ada booked the early train.')
    await say('/forget chat yes')
    await say('and now?')
    expect(prompt()).not.toContain('early train')
    expect(held('early train')).toEqual([])
  })

  it('S41: what a group has by an import, whose words are nobody’s, goes from the imported session too', async () => {
    const { home, say, addGroup, prompt, held } = await house()
    const chat = addGroup('Family')
    const folder = mkdtempSync(join(tmpdir(), 'parley-old-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const sessions = join(folder, 'agents', 'main', 'sessions')
    mkdirSync(sessions, { recursive: true })
    writeFileSync(
      join(sessions, 'sessions.json'),
      JSON.stringify({ [`agent:main:telegram:group:${chat}`]: { sessionId: 'old', updatedAt: 1_772_080_900_000 } }),
    )
    const text = `[Telegram Family id:${chat}] Cy: my code is ${CANARY}`
    const message = { role: 'user', content: [{ type: 'text', text }], timestamp: 1_772_080_000_000 }
    writeFileSync(
      join(sessions, 'old.jsonl'),
      ['session', 'message'].map((type) => `${JSON.stringify({ type, version: 3, id: type, message })}\n`).join(''),
    )
    await home.daemon.stop()
    await parley(home.config, ['import', folder])
    await home.restart()
    await say('what did he say?', { chat })
    expect(prompt()).toContain(CANARY)
    await say('/forget chat yes', { chat })
    await say('and now?', { chat })
    expect(prompt()).not.toContain(CANARY)
    expect(held()).toEqual([])
  })

  it.each([
    ['forgotten', '!forget last', 'Forgotten'],
    ['taken back', '!undo', 'Taken back'],
  ])('S41: a thread that is read anew is read without what was %s', async (_what, command, done) => {
    const home = await startSlackHousehold({ script })
    const { world, ledger } = home.slack
    const { id: channel } = world.addChannel({ name: 'workshop', members: ['U333', 'U444'] })
    world.setMember(channel, false)
    const root = world.say({ from: 'U444', channel, text: 'the boiler leaks' })
    world.setMember(channel, true)
    const say = async (text: string, words: string) => {
      const after = ledger.mark()
      world.say({ from: 'U333', channel, thread: root, text })
      await ledger.next(
        (entry) =>
          ((entry.kind === 'message' && entry.byBot) || entry.kind === 'whisper') && entry.text.includes(words),
        { after },
      )
    }
    await say(`<@U0BOT> my code is ${CANARY}`, 'my code is')
    await say(command, done)
    await say('!new', '')
    await say('<@U0BOT> what now?', 'what now?')
    const prompt = JSON.stringify(home.anthropic.ledger.requests().at(-1)?.messages)
    expect(prompt).toContain('the boiler leaks')
    expect(prompt).not.toContain(CANARY)
  })

  it('S41: a command in a thread is no reply to the message that began it', async () => {
    const home = await startSlackHousehold({ script })
    const { world, ledger } = home.slack
    const { id: channel } = world.addChannel({ name: 'workshop', members: ['U333', 'U444'] })
    const root = world.say({ from: 'U444', channel, text: '<@U0BOT> the boiler leaks' })
    await ledger.nextFromBot('sent')
    const say = async (text: string, isMeant = (words: string) => !words.startsWith('heard')) => {
      const after = ledger.mark()
      world.say({ from: 'U333', channel, thread: root, text })
      const isFromBot = (entry: (typeof ledger.entries)[number]) =>
        (entry.kind === 'message' && entry.byBot) || entry.kind === 'whisper'
      const said = await ledger.next((one) => isFromBot(one) && 'text' in one && isMeant(one.text), { after })
      return 'text' in said ? said.text : ''
    }
    expect(await say('!forget')).toContain('in reply to a message')
    expect(await say('!forget 2h')).toContain('Nothing was removed yet')
    await say('<@U0BOT> and now?', (words) => words.includes('and now?'))
    expect(JSON.stringify(home.anthropic.ledger.requests().at(-1)?.messages)).toContain('the boiler leaks')
  })
})
