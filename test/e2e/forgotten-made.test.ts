import { describe, expect, it } from 'vitest'
import { toAgentId } from '../../src/core/ids.ts'
import type { Tool } from '../../src/core/turn.ts'
import { member, owner, policy } from '../fakes/routing-policy.ts'
import { forgettingHouse, holding } from './forgetting-house.ts'
import { parley } from './house-command.ts'
import { recorded } from './household.ts'
import { doing } from './obedient.ts'
import { type SetClock, setClock } from './set-clock.ts'

/**
 * A plain word, no code and no number: alone in a text it repeats nothing, so it goes only with what it belongs to.
 */
const WORD = 'quorlimvash'

const pay: Tool = {
  class: 'once',
  spec: { name: 'pay', description: 'Pays.', parameters: { type: 'object', properties: { to: { type: 'string' } } } },
  run: async () => 'paid',
}

async function house({ direct = 'public', ...more }: { clock?: SetClock; direct?: 'public' | 'allowlist' } = {}) {
  const tools = ['memory', 'sessions', 'schedule', 'task', 'ask', 'bank']
  const agents = [{ id: toAgentId('main'), model: 'anthropic/claude-haiku-4-5', prompt: 'Talk.', tools }]
  const home = await forgettingHouse({
    ...{ script: doing, config: { agents }, tools: { bank: [pay] }, ...more },
    routing: policy({
      people: [owner('ada', 'telegram:111'), member('bob', 'telegram:444')],
      access: { direct, groups: [{ match: {}, who: 'public', trigger: 'mention' }] },
    }),
  })
  const { heardAfter, world } = home
  const heard = (act: () => void, words: string, chat = 111) => heardAfter(act, chat, words)
  const held = () => holding(home.home.dataDir, WORD)
  /** What the bot's messages in a chat say now. */
  const shown = (chat: number): string =>
    JSON.stringify(world.messages(chat, { by: 'bot' }).map(({ message }) => message))
  return { ...home, heard, held, shown }
}

const codeIn = (card: string, command: string): string => new RegExp(`/${command} (\\w+)`).exec(card)?.[1] ?? ''

describe('what a turn has made of a message in other words', () => {
  it('S41: the card that asked about its call goes with it, in the chat as well', async () => {
    const { heard, held, shown, world, say, home } = await house()
    let asked = 0
    const { text } = await heard(() => {
      asked = world.say({ from: 111, text: `please now do pay {"to":"${WORD}"}` }).message_id
    }, 'May I use')
    expect(text).toContain(WORD)
    await heard(() => world.say({ from: 111, text: `/deny ${codeIn(text, 'approve')}` }), 'fine')
    await recorded(home)
    expect(await say('/forget', { replyTo: asked })).toMatch(/^Forgotten: /)
    await recorded(home)
    expect(held()).toEqual([])
    await expect.poll(() => shown(111)).not.toContain(WORD)
  })

  it('S41: a card in private that nobody has answered goes with its time; the store has nothing of it before', async () => {
    const clock = setClock('2026-11-01T08:00:00Z')
    const { addGroup, heard, held, shown, world, ledger, say, home } = await house({ clock })
    const group = addGroup('Family')
    await say('hello')
    const waits = clock.timerOf(120_000, 5_000)
    const asked = `@parley_bot do pay {"to":"${WORD}"}`
    await heard(() => world.say({ from: 444, chat: group, text: asked }), 'May I use')
    await waits
    await recorded(home)
    clock.skip(120_000)
    await ledger.nextFromBot('sent', { after: 0, where: ({ chatId, text }) => chatId === group && text === 'fine' })
    await recorded(home)
    expect(await say('/forget me yes', { from: 444 })).toMatch(/^Forgotten: /)
    expect(held()).toEqual([])
    clock.skip(600_000)
    await expect.poll(() => shown(111)).not.toContain(WORD)
  })

  it('C23: a card in private stays there when whoever asked takes the exchange back, as one that is over', async () => {
    const { addGroup, heard, shown, world, say, home } = await house()
    const group = addGroup('Family')
    await say('hello')
    const asked = `@parley_bot do pay {"to":"${WORD}"}`
    const { text } = await heard(() => world.say({ from: 444, chat: group, text: asked }), 'May I use')
    await heard(() => world.say({ from: 111, text: `/deny ${codeIn(text, 'approve')}` }), 'fine', group)
    await recorded(home)
    expect(await say('/undo', { from: 444, chat: group })).toContain('Taken back')
    await recorded(home)
    expect(shown(111)).toContain(WORD)
    expect(shown(111)).toContain('Refused by ada')
    expect(shown(group)).not.toContain('I have asked my owner')
  })

  it('S41: the question that it put goes with it, in the chat as well', async () => {
    const { heard, held, shown, world, say, home } = await house()
    let asked = 0
    const { text } = await heard(() => {
      asked = world.say({
        from: 111,
        text: `please now do ask {"question":"${WORD}?","choices":["red","blue"]}`,
      }).message_id
    }, WORD)
    await heard(() => world.say({ from: 111, text: `/answer ${codeIn(text, 'answer')} 1` }), 'fine')
    await recorded(home)
    expect(await say('/forget', { replyTo: asked })).toMatch(/^Forgotten: /)
    await recorded(home)
    expect(held()).toEqual([])
    await expect.poll(() => shown(111)).not.toContain(WORD)
  })

  it('S41: the conversation of a task that it began goes with it', async () => {
    const { held, exchange, say, home } = await house()
    const { id } = await exchange(`please now do task {"task":"${WORD}"}`)
    expect(held()).not.toEqual([])
    expect(await say('/forget', { replyTo: id })).toMatch(/^Forgotten: /)
    expect(held()).toEqual([])
    expect(JSON.stringify(await parley(home.config, ['sessions', 'list', '--json']))).not.toContain(WORD)
  })

  it('S41: a reminder that it made goes with it', async () => {
    const { held, exchange, say } = await house()
    const { id } = await exchange(`please now do schedule_create {"text":"${WORD} sleeps all day","every":"2h"}`)
    expect(await say('/remind list')).toContain(WORD)
    expect(await say('/forget', { replyTo: id })).toMatch(/^Forgotten: /)
    expect(await say('/remind list')).not.toContain(WORD)
    expect(held()).toEqual([])
  })

  it('S41: a memory that it made goes with it', async () => {
    const { held, exchange, say } = await house()
    const { id } = await exchange(`please now do memory_save {"text":"${WORD} sleeps all day"}`)
    expect(await say('/memory')).toContain(WORD)
    expect(await say('/forget', { replyTo: id })).toMatch(/^Forgotten: /)
    expect(await say('/memory')).not.toContain(WORD)
    expect(held()).toEqual([])
  })
})

describe('what others have passed on', () => {
  it('S41: is in no index of words and in no name of a conversation once its writer forgets it', async () => {
    const { held, addGroup, world, answered, say, rows, home } = await house()
    const group = addGroup('Family')
    const said = world.say({ from: 444, chat: group, text: `listen all of you ${WORD} is the name` })
    await answered(() => void world.say({ from: 111, chat: group, text: '@parley_bot hello' }), group)
    await answered(() => void world.forward({ from: 555, of: { chat: group, message: said.message_id } }), 555)
    world.forward({ from: 555, chat: group, of: { chat: group, message: said.message_id } })
    await say(`do session_search {"query":"hello"}`)
    await recorded(home)
    expect(rows('SELECT words FROM search_docs')).toContain(WORD)
    expect(rows('SELECT description FROM session_activity')).toContain(WORD)
    expect(await say('/forget me yes', { from: 444 })).toMatch(/^Forgotten: /)
    expect(rows('SELECT words FROM search_docs')).not.toContain(WORD)
    expect(rows('SELECT description, preview FROM session_activity')).not.toContain(WORD)
    expect(held()).toEqual([])
  })
})

describe('what somebody has answered to a question', () => {
  it('S41: goes with their words, the result and what follows from it with it; the question of another stays', async () => {
    const { held, addGroup, world, heard, say, home, rows } = await house()
    const group = addGroup('Family')
    const ask = '@parley_bot please now do ask {"question":"Whom?","choices":["a","b"],"everybody":true}'
    const { text } = await heard(() => world.say({ from: 111, chat: group, text: ask }), 'Whom?', group)
    await heard(
      () => world.say({ from: 444, chat: group, text: `/answer ${codeIn(text, 'answer')} ${WORD}` }),
      'fine',
      group,
    )
    await recorded(home)
    expect(rows('SELECT data FROM events')).toContain(WORD)
    expect(await say('/forget me yes', { from: 444 })).toMatch(/^Forgotten: /)
    expect(held()).toEqual([])
    expect(rows('SELECT data FROM events')).toContain('Whom?')
    expect(rows('SELECT answered_by FROM questions')).not.toContain('444')
  })
})

describe('an exchange that was taken back', () => {
  it('C23: is in no later prompt by a quotation in what somebody else said to nobody meanwhile', async () => {
    const { addGroup, exchange, say, world, prompt } = await house()
    const group = addGroup('Family')
    const { id } = await exchange(`look at ${WORD} over there`, { chat: group })
    world.say({ from: 444, chat: group, text: 'ha ha ha', replyTo: id })
    await say('/undo', { chat: group })
    await say('and now?', { chat: group })
    expect(prompt()).toContain('ha ha ha')
    expect(prompt()).not.toContain(WORD)
  })
})

describe('a memory that was corrected', () => {
  it('S41: goes with the words of the correction', async () => {
    const clock = setClock('2026-11-01T08:00:00Z')
    const { held, say, rows } = await house({ clock })
    await say('/remember pigeons fly at night', { from: 444 })
    clock.skip(3_600_000)
    await say(`/memory correct 1 ${WORD}`, { from: 444 })
    expect(rows('SELECT text FROM memory_entries')).toContain(WORD)
    // One's own words of the last minutes, in this chat alone.
    expect(await say('/forget 5m yes', { from: 444 })).toMatch(/^Forgotten: /)
    expect(held()).toEqual([])
  })
})

describe('a command', () => {
  it.each([
    ['/remember WORD', '/memory', ['I remember nothing here yet.']],
    ['/remind every 2h WORD', '/remind list', ['There is no reminder here.']],
    ['/side what of WORD?', '/help', ['/forget']],
    ['/title WORD', '/help', ['/forget']],
  ])('S41: %s is forgotten by a reply, with what it has made', async (command, asked, shown) => {
    const { held, exchange, say } = await house()
    await say('hello')
    const { id } = await exchange(command.replace('WORD', WORD))
    expect(held()).not.toEqual([])
    expect(await say('/forget', { replyTo: id })).toMatch(/^Forgotten: /)
    expect(held()).toEqual([])
    for (const words of shown) expect(await say(asked)).toContain(words)
  })
})

describe('the name of whoever is forgotten', () => {
  it('S41: goes from the card about them, from what was said when they were let in, and from their own chat', async () => {
    const { heard, held, world, say, exchange, home } = await house({ direct: 'allowlist' })
    world.addUser({ id: 777, firstName: WORD })
    await say('hello')
    const { text } = await heard(() => world.say({ from: 777, text: 'let me in please' }), '/admit')
    await say(`/admit ${codeIn(text, 'admit')}`)
    await recorded(home)
    await exchange('hi there', { from: 777 })
    expect(held()).not.toEqual([])
    expect(await say('/forget me yes', { from: 777 })).toMatch(/^Forgotten: /)
    await recorded(home)
    expect(held()).toEqual([])
  })
})
