import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { NO_PLAN, NOTHING_FORGOTTEN } from '../../src/core/forgetting.ts'
import type { RoutingPolicy } from '../../src/core/policy.ts'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { deferred } from '../../src/rehearsal/deferred.ts'
import { household } from '../fakes/routing-policy.ts'
import { withDatabase } from '../store/temp-database.ts'
import { parley } from './house-command.ts'
import { type Household, recorded, startHousehold } from './household.ts'
import { setClock } from './set-clock.ts'
import { startTwoMore } from './three-platforms.ts'

const script: Script = (request) => textReply(`heard ${lastUserText(request).split('\n').at(-1)}`)

/** Two groups at a fixed time: what one is shown differs from the other by what was said alone. */
async function twoGroups(routing: Partial<RoutingPolicy> = {}) {
  const house = await startHousehold({ script, routing, streaming: false, clock: setClock('2026-11-21T08:00:00Z') })
  const add = (title: string) =>
    house.telegram.world.addChat({ type: 'supergroup', title, members: [111, 444, 555] }).id
  const [family, club] = [add('Family'), add('Club')]
  return { house, family, club, from: `telegram:group:${family}`, to: `telegram:group:${club}` }
}

async function say(house: Household, chat: number, text: string, from = 111): Promise<void> {
  const after = house.telegram.ledger.mark()
  house.telegram.world.say({ from, chat, text: chat < 0 ? `@parley_bot ${text}` : text })
  await house.telegram.ledger.nextFromBot('sent', { after })
  await recorded(house)
}

async function talk(house: Household, chat: number): Promise<void> {
  house.telegram.world.say({ from: 444, chat, text: 'dinner at seven' })
  await say(house, chat, 'when is dinner?')
  await say(house, chat, 'who cooks?', 444)
}

async function promptFor(house: Household, chat: number, text: string): Promise<string> {
  await say(house, chat, text)
  return JSON.stringify(house.anthropic?.ledger.requests().at(-1)?.messages)
}

const run = (house: Household, ...argv: string[]) => parley(house.config, ['sessions', ...argv])
const show = (house: Household, name: string) => house.daemon.operator.sessions.show(name)
const count = async (house: Household) =>
  (await house.daemon.operator.sessions.list({ limit: 50, offset: 0, inactive: true })).total

describe('parley sessions move', () => {
  it('the next prompt there is the same, byte for byte, as it would have been here, and this place begins afresh', async () => {
    const [moved, stayed] = [await twoGroups(), await twoGroups()]
    for (const { house, family } of [moved, stayed]) await talk(house, family)
    const before = await show(moved.house, moved.from)
    const done = await run(moved.house, 'move', moved.from, moved.to, '--yes')
    expect([done.code, done.err]).toEqual([0, ''])
    expect(await promptFor(moved.house, moved.club, 'and tomorrow?')).toBe(
      await promptFor(stayed.house, stayed.family, 'and tomorrow?'),
    )
    expect((await promptFor(moved.house, moved.family, 'hello')).includes('dinner')).toBe(false)
    expect(await show(moved.house, before.id)).toMatchObject({ status: 'inactive', turns: before.turns })
  })

  it('on another platform the history of the next prompt is the same too, byte for byte', async () => {
    const beside = await startTwoMore()
    const house = await startHousehold({ script, streaming: false, beside, clock: setClock('2026-11-21T08:00:00Z') })
    const { id: family } = house.telegram.world.addChat({ type: 'supergroup', title: 'Family', members: [111, 444] })
    await talk(house, family)
    const { rooms, discord } = beside
    const done = await run(house, 'fork', `telegram:group:${family}`, `discord:channel:${rooms.discord}`, '--yes')
    expect([done.code, done.err]).toEqual([0, ''])
    const answered = discord.ledger.next(
      (entry) => entry.kind === 'message' && entry.byBot && entry.text.includes('and tomorrow'),
    )
    discord.world.say({ from: '222', channel: rooms.discord, text: '<@900000000000000001> and tomorrow?' })
    await answered
    const history = () => JSON.stringify(house.anthropic?.ledger.requests().at(-1)?.messages.slice(0, -1))
    const there = history()
    await say(house, family, 'and tomorrow?')
    expect(there).toContain('dinner at seven')
    expect(there).toBe(history())
  })

  it('what is said there later is not there for those who took part here alone', async () => {
    const { house, family, from, to } = await twoGroups()
    await talk(house, family)
    await run(house, 'move', from, to, '--yes')
    expect((await show(house, to)).participants).toEqual([])
    expect((await show(house, from)).participants).toEqual([])
  })

  it('its words keep their authors', async () => {
    const { house, family, from, to } = await twoGroups()
    await talk(house, family)
    await run(house, 'move', from, to, '--yes')
    const { session } = await house.daemon.operator.archives.page(to, { after: 0, limit: 1 })
    expect(session.authors).toEqual(expect.arrayContaining(['telegram:111', 'telegram:444']))
  })

  it('a chat that was silenced stays silent, and the session that it had is kept', async () => {
    const { house, family, club, from, to } = await twoGroups()
    await talk(house, family)
    await say(house, club, 'hello')
    await run(house, 'patch', to, '--send', 'deny')
    const before = await show(house, to)
    const done = await run(house, 'move', from, to, '--yes')
    expect(done.out).toContain(`${before.id}, which was there, is kept and no longer used.`)
    expect(done.out).toContain(
      '(thinking, verbose, voice, model) go along; whether anything is sent stays with the place.',
    )
    expect(await show(house, to)).toMatchObject({ sendPolicy: 'deny', turns: 2 })
    expect(await show(house, from)).not.toHaveProperty('sendPolicy')
  })

  it('it still holds after a restart', async () => {
    const { house, family, club, from, to } = await twoGroups()
    await talk(house, family)
    await run(house, 'move', from, to, '--yes')
    await house.restart()
    expect(await promptFor(house, club, 'and now?')).toContain('dinner at seven')
  })
})

describe('parley sessions fork', () => {
  it('both places continue from the same prompt, each for itself', async () => {
    const { house, family, club, from, to } = await twoGroups()
    await talk(house, family)
    expect((await run(house, 'fork', from, to, '--yes')).code).toBe(0)
    expect(await promptFor(house, club, 'and tomorrow?')).toBe(await promptFor(house, family, 'and tomorrow?'))
    await say(house, family, 'only here')
    expect(await promptFor(house, club, 'what else?')).not.toContain('only here')
  })
})

describe('a wider audience', () => {
  it('F-H11: what was said in one topic is named with its words before another is shown it, and without a yes nothing crosses', async () => {
    const { house } = await twoGroups()
    const { id: chat } = house.telegram.world.addChat({
      ...{ type: 'supergroup', title: 'Forum', members: [111, 444], forum: true },
    })
    const add = (name: string) => house.telegram.world.addTopic({ chat, name })
    const [plans, gifts] = [add('Plans'), add('Gifts')]
    const after = house.telegram.ledger.mark()
    house.telegram.world.say({ from: 444, chat, topic: gifts, text: '@parley_bot a ring for Ada' })
    await house.telegram.ledger.nextFromBot('sent', { after })
    await recorded(house)
    const asked = await run(house, 'move', `telegram:group:${chat}/${gifts}`, `telegram:group:${chat}/${plans}`)
    expect(asked.code).toBe(1)
    expect(asked.out).toContain('Everybody who writes in')
    expect(asked.out).toContain('2 messages, words of telegram:444')
    expect(asked.out).toContain('--yes')
    const next = house.telegram.ledger.mark()
    house.telegram.world.say({ from: 111, chat, topic: plans, text: '@parley_bot what is new?' })
    await house.telegram.ledger.nextFromBot('sent', { after: next })
    expect(JSON.stringify(house.anthropic?.ledger.requests().at(-1)?.messages)).not.toContain('ring')
  })

  it.each(['move', 'fork'])('F-H11: a %s without --yes changes nothing', async (kind) => {
    const { house, family, from, to } = await twoGroups()
    await talk(house, family)
    const [before, sessions] = [await show(house, from), await count(house)]
    const asked = await run(house, kind, from, to)
    expect(asked.code).toBe(1)
    expect(asked.out).toContain('words of telegram:111, telegram:444')
    expect(await show(house, from)).toEqual(before)
    expect(await count(house)).toBe(sessions)
  })

  it.each(['move', 'fork'] as const)('of two requests at once for a %s one is carried out', async (kind) => {
    const { house, family, from, to } = await twoGroups()
    await talk(house, family)
    const sessions = await count(house)
    const { relocate } = house.daemon.operator.archives
    const both = await Promise.allSettled([1, 2].map(() => relocate(from, { kind, to, confirmed: true })))
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    expect(await count(house)).toBe(sessions + (kind === 'move' ? 2 : 1))
  })

  it('F-H11: a yes is none to the words of whoever has spoken since it was asked for; the next one is', async () => {
    const { house, family, from, to } = await twoGroups()
    await talk(house, family)
    expect((await run(house, 'move', from, to)).code).toBe(1)
    await say(house, family, 'I shall be late', 555)
    const before = await show(house, from)
    const refused = await run(house, 'move', from, to, '--yes')
    expect(refused.code).toBe(1)
    expect(refused.err).toContain('words of telegram:555. Say yes once more if that is meant too.')
    expect(await show(house, from)).toEqual(before)
    expect((await run(house, 'move', from, to, '--yes')).code).toBe(0)
  })

  it('F-H11: the direct chat of the only one whose words it holds is no wider audience', async () => {
    const { house, family, from } = await twoGroups()
    await say(house, family, 'when is dinner?')
    const done = await run(house, 'fork', from, 'telegram:direct:111')
    expect([done.code, done.err]).toEqual([0, ''])
    expect(await promptFor(house, 111, 'and tomorrow?')).toContain('when is dinner?')
  })

  it('F-H11: with the words of anybody else that direct chat is one', async () => {
    const { house, family, from } = await twoGroups()
    await talk(house, family)
    const asked = await run(house, 'fork', from, 'telegram:direct:111')
    expect(asked.code).toBe(1)
    expect(asked.out).toContain('Whoever writes in telegram:direct:111')
  })
})

describe('whoever has a token of the platform it comes to', () => {
  const withToken = async (house: Household) =>
    void (await house.daemon.operator.tokens.create({ namespace: 'telegram', scopes: ['sessions:read'] }))

  it('F-H11, S42: is named as a reader', async () => {
    const { house, to } = await twoGroups()
    await withToken(house)
    await house.daemon.operator.sessions.post('api:notes', { text: 'my code is 4711' })
    const asked = await run(house, 'fork', 'api:notes', to)
    expect(asked.code).toBe(1)
    expect(asked.out).toContain('and whoever has a token of telegram, could then have')
  })

  it('F-H11, S42: is a wider audience of what one person has said where no such token reached', async () => {
    const { house } = await twoGroups({ direct: 'person' })
    await say(house, 111, 'my code is 4711')
    await withToken(house)
    const { id } = await show(house, 'telegram:direct:111')
    expect(id).toMatch(/^person:/)
    await house.restart({ routing: household({ direct: 'chat' }) })
    await say(house, 111, 'hello')
    const { id: there } = await show(house, 'telegram:direct:111')
    expect(there).toMatch(/^telegram:/)
    const asked = await run(house, 'fork', id, there)
    expect([asked.code, asked.err]).toEqual([1, ''])
    expect(asked.out).toContain('whoever has a token of telegram')
  })

  it('F-H11, S42: is none where it could read all of that before', async () => {
    const { house, family, from } = await twoGroups()
    await withToken(house)
    await say(house, family, 'when is dinner?')
    expect((await run(house, 'fork', from, 'telegram:direct:111')).code).toBe(0)
  })
})

it.each(['move', 'fork'])(
  'F-H11: a direct chat whose session others share is a wider audience for a %s',
  async (kind) => {
    const { house, family, from } = await twoGroups({ scope: 'global' })
    await say(house, family, 'my code is 4711')
    await say(house, 444, 'hello', 444)
    const asked = await run(house, kind, from, 'telegram:direct:111')
    expect(asked.code).toBe(1)
    expect(asked.out).toContain('Everybody whose chats share main could then')
    await say(house, 444, 'what is the code?', 444)
    expect(JSON.stringify(house.anthropic?.ledger.requests().at(-1)?.messages)).not.toContain('4711')
  },
)

describe('what cannot be moved', () => {
  it.each([
    ['none', 'telegram:group:-5', 1, 'none'],
    ['FROM', 'nowhere', 2, 'is not an address'],
    ['FROM', 'discord:channel:5', 2, 'No account of discord'],
    ['FROM', 'FROM', 1, 'already'],
    ['EMPTY', 'telegram:group:-5', 1, 'Nothing was said'],
  ])('%s to %s exits %i and says %s', async (name, to, code, said) => {
    const { house, family, from, to: club } = await twoGroups()
    await talk(house, family)
    await run(house, 'move', from, club, '--yes')
    const named = (one: string) => one.replace('FROM', club).replace('EMPTY', from)
    const done = await run(house, 'move', named(name), named(to), '--yes')
    expect(done.code).toBe(code)
    expect(done.err).toContain(said)
  })

  it('a session whose turn runs waits for its end', async () => {
    const [asked, held] = [deferred<void>(), deferred<void>()]
    const script: Script = async () => {
      asked.resolve()
      await held.promise
      return textReply('done')
    }
    const house = await startHousehold({ streaming: false, script })
    const after = house.telegram.ledger.mark()
    house.telegram.world.say({ from: 111, text: 'think' })
    await asked.promise
    const done = await run(house, 'move', 'telegram:direct:111', 'cli:desk', '--yes')
    expect(done.code).toBe(1)
    expect(done.err).toContain('a turn that runs or waits')
    held.resolve()
    await house.telegram.ledger.nextFromBot('sent', { after })
  })

  it('S41: a session of which something is still being forgotten waits for that', async () => {
    const { house, family, from, to } = await twoGroups()
    await talk(house, family)
    const { id } = await show(house, from)
    const plan = { ...NO_PLAN, sessions: [{ id, empty: [1], cut: [], turns: [] }] }
    withDatabase(join(house.dataDir, 'parley.db'), (database) =>
      database
        .prepare('INSERT INTO forgettings (id, state, plan, counts, asked_at) VALUES (?, ?, ?, ?, ?)')
        .run('begun', 'running', JSON.stringify(plan), JSON.stringify(NOTHING_FORGOTTEN), 1),
    )
    const asked = await run(house, 'fork', from, to, '--yes')
    expect(asked.code).toBe(1)
    expect(asked.err).toContain('is being forgotten: try again in a moment')
    const exported = await parley(house.config, ['export', from, '--out', 'x'])
    expect([exported.code, exported.out]).toEqual([1, ''])
    expect(exported.err).toContain('is being forgotten: try again in a moment')
    await house.restart()
    await expect.poll(async () => (await run(house, 'fork', from, to, '--yes')).code, { timeout: 30_000 }).toBe(0)
  })

  it('without a daemon it says that one is needed', async () => {
    const { house, family, from, to } = await twoGroups()
    await talk(house, family)
    await house.daemon.stop()
    const done = await run(house, 'move', from, to, '--yes')
    expect(done.code).toBe(1)
    expect(done.err).toContain('No daemon is running')
    await house.restart()
  })
})
