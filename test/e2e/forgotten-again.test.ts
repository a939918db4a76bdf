import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { RoutingPolicy } from '../../src/core/policy.ts'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { parley } from './house-command.ts'
import { recorded, startHousehold } from './household.ts'
import { startSlackHousehold } from './slack-household.ts'

const CANARY = 'zq9canary-4711'
const script: Script = (request) => textReply(`heard ${lastUserText(request).split('\n').at(-1)}`)

function holding(folder: string, words = CANARY): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => {
    const path = join(folder, name)
    return statSync(path).isFile() && readFileSync(path).includes(words)
  })
}

async function house(routing: Partial<RoutingPolicy> = {}) {
  const home = await startHousehold({ script, routing, streaming: false })
  const { world, ledger } = home.telegram
  const say = async (text: string, more: { readonly replyTo?: number } = {}) => {
    const after = ledger.mark()
    const { message_id: id } = world.say({ from: 111, text, ...more })
    const answer = await ledger.nextFromBot('sent', { after })
    await recorded(home)
    return { id, text: answer.text }
  }
  const prompts = () => (home.anthropic?.ledger.requests() ?? []).map(({ messages }) => JSON.stringify(messages))
  return { home, world, say, prompts, prompt: () => prompts().at(-1) }
}

describe('what was forgotten comes back by no other way', () => {
  it('S41: /retry and /undo mean the exchange before it; no model is asked about nothing', async () => {
    const { world, say, prompt } = await house()
    await say('first words')
    const { id } = await say(`my code is ${CANARY}`)
    await say('/forget last')
    expect((await say('/retry')).text).toBe('I am answering that once more.')
    await expect.poll(prompt).toMatch(/first words[^{}]*"[^{}]*cache_control/)
    world.edit({ chat: 111, message: id, text: `my code is ${CANARY} still` })
    await say('and now?')
    expect(prompt()).toContain('first words')
    expect(prompt()).not.toContain(CANARY)
    await say('/forget last')
    await say('/undo')
    await say('what is left?')
    expect(prompt()).not.toContain('first words')
  })

  it('S41: there is nothing to answer again in a chat that was forgotten', async () => {
    const { say, prompts } = await house()
    await say(`my code is ${CANARY}`)
    await say('/forget chat yes')
    const before = prompts().length
    expect((await say('/retry')).text).toBe('There is nothing to answer again here.')
    expect((await say('/undo')).text).toBe('There is nothing to take back here.')
    expect(prompts()).toHaveLength(before)
  })

  it.each(['update', 'rerun'] as const)(
    'S41: a late edit of it leaves no byte and gets no answer (edits: %s)',
    async (edits) => {
      const { home, world, say, prompts } = await house({ edits })
      const { id } = await say(`my code is ${CANARY}`)
      await say('/forget last')
      const before = prompts().length
      world.edit({ chat: 111, message: id, text: `my code is ${CANARY}, really` })
      await say('and now?')
      expect(prompts()).toHaveLength(before + 1)
      expect(prompts().at(-1)).not.toContain(CANARY)
      expect(holding(home.dataDir)).toEqual([])
      expect((await say(`/why ${id}`)).text).toContain('Forgotten')
    },
  )

  it('S41: a reply to it quotes nothing of it', async () => {
    const { home, say, prompt } = await house()
    const { id } = await say(`my code is ${CANARY}`)
    const { id: kept } = await say('a plain word')
    await say(`/forget ${id}`)
    await say('what was that?', { replyTo: id })
    expect(prompt()).toContain('what was that?')
    expect(prompt()).not.toContain(CANARY)
    expect(holding(home.dataDir)).toEqual([])
    await say('and that?', { replyTo: kept })
    expect(prompt()).toContain('a plain word] and that?')
  })

  it('S41: what a chat has by a fork goes with it, and stays where it was said', async () => {
    const { home, world, prompt } = await house()
    const add = (title: string) => world.addChat({ type: 'supergroup', title, members: [111, 444] }).id
    const [family, club] = [add('Family'), add('Club')]
    const say = async (chat: number, text: string) => {
      const after = home.telegram.ledger.mark()
      world.say({ from: 111, chat, text })
      await home.telegram.ledger.nextFromBot('sent', { after, where: ({ chatId }) => chatId === chat })
      await recorded(home)
    }
    await say(family, `@parley_bot my code is ${CANARY}`)
    const [from, to] = [`telegram:group:${family}`, `telegram:group:${club}`]
    await parley(home.config, ['sessions', 'fork', from, to, '--yes'])
    await say(club, '@parley_bot one')
    expect(prompt()).toContain(CANARY)
    await say(club, '/forget chat yes')
    await say(club, '@parley_bot two')
    expect(prompt()).not.toContain(CANARY)
    await say(family, '@parley_bot three')
    expect(prompt()?.split(CANARY)).toHaveLength(3)
  })

  it('S41: what a chat has by an import goes with it, and from the imported session too', async () => {
    const { home, say, prompt } = await house()
    await home.daemon.stop()
    await parley(home.config, ['import', join(import.meta.dirname, '../fixtures/imports/openclaw')])
    await home.restart()
    await say('and when does it leave?')
    expect(prompt()).toContain('Ada booked the early train.')
    await say('/forget chat yes')
    await say('and now?')
    expect(prompt()).not.toContain('early train')
    expect(holding(home.dataDir, 'early train')).toEqual([])
  })

  it('S41: what a group has by an import, whose words are nobody’s, goes from the imported session too', async () => {
    const { home, world, prompt } = await house()
    const { id: chat } = world.addChat({ type: 'supergroup', title: 'Family', members: [111, 444] })
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
    const say = async (words: string) => {
      const after = home.telegram.ledger.mark()
      world.say({ from: 111, chat, text: words })
      await home.telegram.ledger.nextFromBot('sent', { after, where: ({ chatId }) => chatId === chat })
      await recorded(home)
    }
    await say('@parley_bot what did he say?')
    expect(prompt()).toContain(CANARY)
    await say('/forget chat yes')
    await say('@parley_bot and now?')
    expect(prompt()).not.toContain(CANARY)
    expect(holding(home.dataDir)).toEqual([])
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
