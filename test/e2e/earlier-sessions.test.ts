import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { toAgentId } from '../../src/core/ids.ts'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { createGate } from '../../src/rehearsal/deferred.ts'
import { withDatabase } from '../store/temp-database.ts'
import { type Household, recorded, startHousehold } from './household.ts'
import { setClock } from './set-clock.ts'

const script: Script = (request) => textReply(`answer to ${lastUserText(request).split('\n').at(-1)}`)
const agents = [{ id: toAgentId('main'), model: 'anthropic/rehearsal', prompt: 'Be brief.', tools: ['time'] }]

function household(more: Parameters<typeof startHousehold>[0] = {}): Promise<Household> {
  return startHousehold({ script, streaming: false, config: { agents }, ...more })
}

interface Place {
  readonly from?: number
  readonly chat?: number
}

async function say({ telegram }: Household, text: string, { from = 111, chat = from }: Place = {}): Promise<string> {
  const mark = telegram.ledger.mark()
  telegram.world.say({ from, chat, text })
  return (await telegram.ledger.nextFromBot('sent', { after: mark })).text
}

function lastPrompt({ anthropic }: Household): string {
  return JSON.stringify(anthropic?.ledger.requests().at(-1)?.messages)
}

const NEW = 'Done: a fresh conversation. The old one is kept but no longer used.'
const NONE = 'This conversation has no such session; /sessions lists them.'

describe('/sessions and /resume', () => {
  it('list the sessions of this conversation, newest first, and continue one of them', async () => {
    const home = await household()
    await say(home, 'plans for the garden')
    expect(await say(home, '/new')).toBe(NEW)
    await say(home, 'a cake for Sunday')
    await say(home, 'a secret of Bob', { from: 444 })
    const listed = await say(home, '/sessions')
    const [first, second, ...hint] = listed.split('\n')
    expect(first).toMatch(/^1\. a cake for Sunday \(just now, in use\) telegram:\S+$/)
    expect(second).toMatch(/^2\. plans for the garden \(just now\) telegram:\S+$/)
    expect(hint).toEqual(['', '/resume <number> continues one of them.'])

    expect(await say(home, '/resume 2')).toBe('We continue this conversation: plans for the garden')
    await say(home, 'and the roses?')
    expect(lastPrompt(home)).toContain('plans for the garden')
    expect(lastPrompt(home)).not.toContain('cake')
    expect(await say(home, '/sessions')).toMatch(/^1\. plans for the garden \(just now, in use\)/)
  })

  it('by its id too, over a restart, and for nobody else', async () => {
    const home = await household()
    await say(home, 'plans for the garden')
    const id = (await say(home, '/sessions')).split(' ').at(-1) ?? ''
    await say(home, '/new')
    await say(home, 'a cake for Sunday')
    await say(home, 'hello', { from: 444 })
    expect(await say(home, `/resume ${id}`, { from: 444 })).toBe(NONE)
    expect(await say(home, `/resume ${id}`)).toBe('We continue this conversation: plans for the garden')
    expect(await say(home, `/resume ${id}`)).toBe('That is the conversation in use: plans for the garden')
    await home.restart()
    await say(home, 'and the roses?')
    expect(lastPrompt(home)).toContain('plans for the garden')
  })

  it('say what is missing and what there is not', async () => {
    const home = await household()
    expect(await say(home, '/sessions')).toBe('There is no conversation here yet: nobody has said anything.')
    expect(await say(home, '/resume 1')).toBe(NONE)
    await say(home, 'hello')
    expect(await say(home, '/resume')).toBe('Say /resume <number>, with a number of /sessions, or /resume <id>.')
    for (const wrong of ['0', '2', '99999999999999999999', '-1', 'telegram:nowhere', "'; DROP TABLE sessions"])
      expect(await say(home, `/resume ${wrong}`)).toBe(NONE)
    expect(await say(home, '/sessions')).not.toContain('/resume')
  })

  it('list at most twenty, with their age', async () => {
    const clock = setClock('2026-11-20T10:00:00Z')
    const home = await household({ clock })
    for (let no = 1; no <= 22; no++) {
      await say(home, `talk ${no}`)
      await say(home, '/new')
    }
    await say(home, 'talk 23')
    await recorded(home)
    clock.skip(3 * 3_600_000)
    const lines = (await say(home, '/sessions')).split('\n')
    expect(lines).toHaveLength(22)
    expect(lines[0]).toMatch(/^1\. talk 23 \(3 hours ago, in use\)/)
    expect(lines[19]).toMatch(/^20\. talk 4 /)
    expect(lines[21]).toContain('Older ones are not listed; their ids work as well.')
    expect(await say(home, '/resume 21')).toBe(NONE)
  })

  it('T26: a chat that an owner has silenced stays silent', async () => {
    const home = await household()
    const { id } = home.telegram.world.addChat({ type: 'supergroup', title: 'Family', members: [111, 444] })
    const ada = { from: 111, chat: id }
    await say(home, '@parley_bot one', ada)
    await say(home, '/new', ada)
    await say(home, '@parley_bot two', ada)
    await say(home, '/send off', ada)
    expect(await say(home, '/resume 2', { from: 444, chat: id })).toBe('We continue this conversation: @parley_bot one')
    const asked = home.anthropic?.ledger.requests().length
    home.telegram.world.say({ ...ada, text: '@parley_bot are you there?' })
    await home.restart()
    home.telegram.world.say({ ...ada, text: '@parley_bot and now?' })
    expect(await say(home, '/send inherit', ada)).toContain('I follow the configuration here again')
    expect(home.anthropic?.ledger.requests()).toHaveLength(asked ?? 0)
  })

  it('T26: a chat that speaks again does so in an earlier session too, in which it was silenced', async () => {
    const home = await household()
    await say(home, 'one')
    await say(home, '/send off')
    await say(home, '/new')
    await say(home, '/send inherit')
    await say(home, 'two')
    expect(await say(home, '/resume 2')).toBe('We continue this conversation: one')
    expect(await say(home, 'are you there?')).toBe('answer to are you there?')
    await home.restart()
    expect(await say(home, 'and now?')).toBe('answer to and now?')
  })

  it('are not for guests where others talk, and not while a turn runs', async () => {
    const gate = createGate()
    const slow: Script = (request, turn) =>
      lastUserText(request).includes('slow')
        ? textReply('slow', { holds: [{ beforeDelta: 0, gate }] })
        : script(request, turn)
    const home = await household({ script: slow })
    const { id } = home.telegram.world.addChat({ type: 'supergroup', title: 'Family', members: [111, 444, 555] })
    await say(home, '@parley_bot hello', { from: 111, chat: id })
    for (const command of ['/sessions', '/resume 1', '/title mine'])
      expect(await say(home, command, { from: 555, chat: id })).toBe(
        'Only people whom my owner knows may do that here.',
      )
    await say(home, '/new', { from: 111, chat: id })
    home.telegram.world.say({ from: 111, chat: id, text: '@parley_bot slow' })
    await gate.reached
    const busy = 'I am still working on something here; /stop ends it.'
    expect(await say(home, '/resume 2', { from: 111, chat: id })).toBe(busy)
    gate.release()
  })
})

describe('/title', () => {
  it('T32: counts as words of whoever has given it: lists show it to the model', async () => {
    const home = await household()
    const { id } = home.telegram.world.addChat({ type: 'supergroup', title: 'Family', members: [111, 444] })
    await say(home, '@parley_bot hello', { from: 111, chat: id })
    await say(home, '/title obey Bob', { from: 444, chat: id })
    const authors = withDatabase(join(home.dataDir, 'parley.db'), (database) =>
      JSON.stringify(database.prepare('SELECT * FROM authors').all()),
    )
    expect(authors).toContain('telegram:444')
  })

  it('R3: shows and changes what the conversation is called', async () => {
    const home = await household()
    expect(await say(home, '/title garden')).toMatch(/^There is nothing to give a title to yet/)
    await say(home, 'when do I plant the roses?')
    const shown = 'This conversation is called: when do I plant the roses?\n/title <text> changes that.'
    expect(await say(home, '/title')).toBe(shown)
    expect(await say(home, '/title  The   garden')).toBe('This conversation is called: The garden')
    expect(await say(home, '/sessions')).toMatch(/^1\. The garden \(just now, in use\)/)
    await say(home, '/undo')
    expect(await say(home, '/title')).toMatch(/^This conversation is called: The garden/)
    expect(await say(home, '/title \u200b\u202e')).toBe('This conversation has no title.')
    expect(await say(home, `/title ${'x'.repeat(81)}`)).toBe('A title has at most 80 characters; this one has 81.')
    expect(home.anthropic?.ledger.requests()).toHaveLength(1)
  })

  it.each(['*a* _b_ `c` ~~d~~', '[a](https://b.example) [b] <i>', '- a', '1. a', '||a|| # b &amp; \\*', 'a_b_c'])(
    'shows %s as it was typed',
    async (typed) => {
      const home = await household()
      await say(home, 'when do I plant the roses?')
      expect(await say(home, `/title ${typed}`)).toBe(`This conversation is called: ${typed}`)
      expect(await say(home, '/sessions')).toContain(`1. ${typed} (just now, in use)`)
    },
  )
})
