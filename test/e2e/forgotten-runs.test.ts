import { describe, expect, it } from 'vitest'
import { type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { createGate } from '../../src/rehearsal/deferred.ts'
import { member, owner, policy } from '../fakes/routing-policy.ts'
import { forgettingHouse, holding } from './forgetting-house.ts'
import { recorded } from './household.ts'
import { doing, toolResult } from './obedient.ts'
import { setClock } from './set-clock.ts'

/** A plain word, no code and no number: alone in a text it repeats nothing. */
const WORD = 'quorlimvash'
const HOUR_MS = 3_600_000

const people = [owner('ada', 'telegram:111'), member('bob', 'telegram:444')]
const access = { direct: 'public', groups: [{ match: {}, who: 'public', trigger: 'mention' }] } as const
const routing = policy({ people, access })

async function house(script: Script = doing) {
  const clock = setClock('2026-11-01T08:00:00Z')
  const home = await forgettingHouse({ script, clock, routing })
  /** Lets time pass until the bot says something in a chat. */
  const due = async (hours: number, words: string, chat = 111): Promise<void> => {
    await home.heardAfter(() => clock.skip(hours * HOUR_MS + 1_000), chat, words)
  }
  return { ...home, clock, due, held: () => holding(home.home.dataDir, WORD) }
}

describe('what a reminder has said when it was due', () => {
  it.each([
    ['again and again', `/remind every 2h ${WORD}`],
    ['once, so that it is over', `/remind in 2 hours ${WORD}`],
    ['as the agent has made it', `please do schedule_create {"text":"${WORD}","every":"2h"}`],
    ['as a task', `please do schedule_create {"text":"${WORD}","every":"2h","task":true}`],
  ])('S41: goes with the message that asked for it: %s', async (how, asked) => {
    const { due, held, exchange, say, world } = await house()
    await say('hello')
    const { id } = await exchange(asked)
    await due(2, how === 'as a task' ? 'fine' : WORD)
    expect(await say('/forget', { replyTo: id })).toMatch(/^Forgotten: /)
    expect(held()).toEqual([])
    const shown = () => JSON.stringify(world.messages(111, { by: 'bot' }))
    await expect.poll(shown).not.toContain(WORD)
  })

  it('S41: stays where it is another’s, whatever it says', async () => {
    const { due, exchange, say, rows } = await house()
    await say('/remind every 2h tea', { from: 444 })
    const { id } = await exchange('/remind every 2h tea')
    await due(2, 'Reminder: tea', 444)
    expect(await say('/forget', { replyTo: id })).toMatch(/^Forgotten: /)
    expect(await say('/remind list', { from: 444 })).toContain('tea')
    expect(rows('SELECT data FROM events')).toContain('Reminder: tea')
    expect(rows('SELECT part FROM outbox')).toContain('Reminder: tea')
  })
})

describe('an answer to a command', () => {
  it('S41: stays where it has the few letters of what somebody else forgets', async () => {
    const { exchange, say, rows } = await house()
    await say('/remember I like steam engines', { from: 444 })
    expect(await say('/memory', { from: 444 })).toContain('steam engines')
    const { id } = await exchange('/remind every 2h tea')
    const { id: kept } = await exchange('/remember tea')
    expect(await say('/memory', { from: 444 })).toContain('steam engines')
    const before = rows('SELECT part FROM outbox').split('steam engines').length
    expect(await say('/forget', { replyTo: id })).toMatch(/^Forgotten: /)
    expect(await say('/forget', { replyTo: kept })).toMatch(/^Forgotten: /)
    expect(rows('SELECT part FROM outbox').split('steam engines')).toHaveLength(before)
  })

  it.each([
    [`/remind every 2h zq\n${WORD}`, '/remind list'],
    [`/remember zq\n${WORD}`, '/memory'],
    [`/remind every 2h ${WORD.repeat(12)} ${WORD}`, '/remind list'],
    [`/remember ${WORD.repeat(30)} ${WORD}`, '/memory'],
    [`/remember ${WORD} & <b>zq</b>`, '/memory'],
  ])('S41: goes that has shown it on one line, and shortened: %s', async (asked, shows) => {
    const { held, exchange, say } = await house()
    await say('hello')
    const { id } = await exchange(asked)
    expect(await say(shows)).toContain(WORD)
    expect(await say('/forget', { replyTo: id })).toMatch(/^Forgotten: /)
    expect(held()).toEqual([])
  })
})

it('S41: a reminder that has words of others too takes no later answer to them', async () => {
  const words = 'the boiler man comes at noon'
  const gate = createGate()
  const shared: Script = (request) => {
    const text = JSON.stringify(request.messages.at(-1))
    if (text.includes('boiler?')) return textReply(words)
    if (toolResult(request) !== undefined) return textReply('noted')
    if (text.includes('slowly')) return { ...textReply('fine'), holds: [{ beforeDelta: 0, gate }] }
    if (!text.includes('remember it')) return textReply('fine')
    return { blocks: [{ type: 'tool_use', name: 'schedule_create', input: { text: words, every: '30h' } }] }
  }
  const { home, world, ledger, say, addGroup, rows } = await house(shared)
  const chat = addGroup('Family')
  world.say({ from: 111, chat, text: '@parley_bot slowly' })
  await gate.reached
  world.say({ from: 444, chat, text: `@parley_bot ${words}` })
  world.say({ from: 111, chat, text: '@parley_bot remember it for me' })
  await expect.poll(() => rows('SELECT dispatch FROM inbox')).toContain('remember it for me')
  const after = ledger.mark()
  gate.release()
  await ledger.nextFromBot('sent', { after, where: ({ text }) => text === 'noted' })
  await recorded(home)
  expect(rows('SELECT definition FROM schedules')).toContain(words)
  expect(await say('boiler?', { from: 444 })).toContain(words)
  expect(await say('/forget me yes', { from: 111, chat })).toContain('1 reminder')
  expect(rows('SELECT part FROM outbox')).toContain(words)
})
