import { describe, expect, it } from 'vitest'
import { type Reply, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { createGate } from '../../src/rehearsal/deferred.ts'
import { isCheckpoint, noting, remembering, startRemembering, WRITTEN } from './remembering.ts'
import { setClock } from './set-clock.ts'

const GROUP = -1001000000001
const MINUTE = 60_000
const NEVER = { turns: 100, quietGroupMessages: 100, idleMinutes: 1_000 }

function group(home: Awaited<ReturnType<typeof startRemembering>>): void {
  home.telegram.world.addChat({ id: GROUP, title: 'Family', type: 'supergroup', members: [111, 444, 555] })
}

describe('a checkpoint', () => {
  it('S34: covers exactly the events since the last one that succeeded', async () => {
    let fails = false
    const home = await startRemembering(NEVER, {
      script: remembering((request) =>
        fails ? { error: { status: 400, type: 'invalid_request_error' } } : noting()(request),
      ),
    })
    await home.say('the first')
    await home.say('the second')
    expect(await home.say('/checkpoint')).toMatch(/^Done: 0 new/)
    await home.say('the third')
    fails = true
    expect(await home.say('/checkpoint')).toMatch(/^I could not look through it: the model provider rejected/)
    fails = false
    await home.say('the fourth')
    expect(await home.say('/checkpoint')).toMatch(/^Done: 0 new/)
    const [before, failed, after] = home.lookedThrough()
    expect(before).toMatch(/the first.*the second/s)
    expect(failed).toMatch(/the third/)
    expect(failed).not.toMatch(/the second/)
    expect(after).toMatch(/the third.*the fourth/s)
    expect(after).not.toMatch(/the second|\/checkpoint/)
  })

  it('S35: starts at /checkpoint, after so many turns, when nobody has spoken for a while, and for the one that /new ends', async () => {
    const clock = setClock('2026-11-23T10:00:00Z')
    const home = await startRemembering({ ...NEVER, turns: 3, idleMinutes: 10 }, { clock })
    const reasons = (): unknown[] =>
      home.logger.lines.filter(({ sentence }) => sentence === WRITTEN).map(({ fields }) => fields.reason)
    await home.say('one')
    await home.say('/checkpoint')
    expect(reasons()).toEqual(['manual'])
    await home.say('two')
    await home.say('three')
    await home.say('four')
    await home.logger.line(WRITTEN, { nth: 2 })
    const waits = clock.timerOf(10 * MINUTE)
    await home.say('five')
    await waits
    clock.skip(10 * MINUTE)
    await home.logger.line(WRITTEN, { nth: 3 })
    await home.say('six')
    await home.say('/new')
    await home.logger.line(WRITTEN, { nth: 4 })
    expect(reasons()).toEqual(['manual', 'turn_limit', 'idle', 'new_session'])
    const last = home.lookedThrough().at(-1)
    expect(last).toContain('six')
    expect(last).not.toContain('five')
  })

  it('S35: starts after so many messages of a group that nobody answers, and then not before a pause', async () => {
    const clock = setClock('2026-11-23T10:00:00Z')
    const home = await startRemembering({ ...NEVER, quietGroupMessages: 3 }, { clock })
    group(home)
    for (const n of [1, 2, 3]) home.telegram.world.say({ from: 444, chat: GROUP, text: `quiet ${n}` })
    expect((await home.logger.line(WRITTEN)).fields.reason).toBe('idle')
    for (const n of [4, 5, 6, 7]) home.telegram.world.say({ from: 444, chat: GROUP, text: `quiet ${n}` })
    await home.say('@parley_bot hello', { from: 444, chat: GROUP })
    expect(home.lookedThrough()).toHaveLength(1)
    expect(home.lookedThrough()[0]).toMatch(/\[Bob\] quiet 1.*\[Bob\] quiet 3/s)
  })

  it('S36: a new message cancels the idle one that was due', async () => {
    const clock = setClock('2026-11-23T10:00:00Z')
    const home = await startRemembering({ ...NEVER, idleMinutes: 10 }, { clock })
    const [first] = [clock.timerOf(10 * MINUTE)]
    await home.say('one')
    await first
    clock.skip(9 * MINUTE)
    const second = clock.timerOf(10 * MINUTE)
    await home.say('two')
    await second
    // The wait of the first message would be over by now.
    clock.skip(2 * MINUTE)
    expect(home.lookedThrough()).toEqual([])
    clock.skip(8 * MINUTE)
    await home.logger.line(WRITTEN)
    expect(home.lookedThrough()).toHaveLength(1)
    expect(home.lookedThrough()[0]).toMatch(/one.*two/s)
  })

  it('S37: with nothing new, or beside one that runs, does nothing and says so', async () => {
    const gate = createGate()
    const home = await startRemembering(NEVER, {
      script: remembering(() => textReply('done', { holds: [{ beforeDelta: 0, gate }] })),
    })
    await home.say('one')
    home.telegram.world.say({ from: 111, text: '/checkpoint' })
    await gate.reached
    expect(await home.say('/checkpoint')).toBe('I am looking through this conversation already.')
    const after = home.telegram.ledger.mark()
    gate.release()
    await home.telegram.ledger.nextFromBot('sent', { after, where: ({ text }) => text.startsWith('Done: 0 new') })
    expect(await home.say('/checkpoint')).toBe('There is nothing new to look through since the last time.')
    expect(home.lookedThrough()).toHaveLength(1)
  })

  it.each([
    ['- Tea and recipes', 'Tea and recipes'],
    ['* 1. "Tea"', 'Tea'],
    ['1) [ ] Tea', 'Tea'],
    ['## – Tea\n- Coffee', 'Tea - Coffee'],
    ['-5 °C and 3.5 km', '-5 °C and 3.5 km'],
    ['t'.repeat(80), 't'.repeat(80)],
    [`- ${'t'.repeat(81)}`, `${'t'.repeat(77)}...`],
  ])('S14, S38: the description %j is one line without marks, and cut as the fallback is', async (text, shown) => {
    const home = await startRemembering(NEVER, { script: remembering(noting(['describe', { text }])) })
    await home.say('I like green tea')
    await home.say('/checkpoint')
    const { sessions } = await home.daemon.operator.sessions.list({ limit: 10, offset: 0, inactive: true })
    expect(sessions).toMatchObject([{ description: shown }])
  })

  it('S38: writes long-term memory, working memory and the description, and has no other tool', async () => {
    const home = await startRemembering(NEVER, {
      script: remembering(
        noting(
          ['memory_save', { text: 'Ada likes green tea.', lines: [1] }],
          ['working_memory', { text: 'Ada waits for a recipe.' }],
          ['describe', { text: '"Tea and recipes"' }],
          ['sessions_send', { sessionKey: 'main', message: 'STOLEN' }],
          ['memory_replace', { number: 99, text: 'of nobody', lines: [] }],
          ['memory_remove', { number: 'all' }],
        ),
      ),
    })
    await home.say('I like green tea')
    expect(await home.say('/checkpoint')).toBe('Done: 1 new, 0 changed, 0 removed. /memory shows them.')
    expect(await home.say('/memory')).toBe(
      '#1 Ada likes green tea.\n\nIn mind for this conversation: Ada waits for a recipe.',
    )
    const { sessions } = await home.daemon.operator.sessions.list({ limit: 10, offset: 0, inactive: true })
    expect(sessions).toMatchObject([{ description: 'Tea and recipes' }])
    expect((await home.logger.line('A checkpoint asked for tools that it does not have')).fields.tools).toBe(
      'sessions_send',
    )
    const request = home.anthropic?.ledger.requests().find(isCheckpoint)
    const names = request?.tools?.map(({ name }) => name)
    expect(names).toEqual(['memory_save', 'memory_replace', 'memory_remove', 'working_memory', 'describe'])
    const { events } = await home.daemon.operator.sessions.history(sessions[0]?.id ?? '', { limit: 100 })
    expect(events.at(-1)).toMatchObject({
      ...{ type: 'checkpoint_written', synthetic: true },
      text: 'checkpoint (manual), memory #1, working memory: Ada waits for a recipe.',
    })
    // Its cost is that of the session, and of the day.
    const [, here, today] = /^Here: (.+)\nToday, everywhere: (.+)$/.exec((await home.say('/usage')) ?? '') ?? []
    expect([here, today]).toEqual([expect.stringMatching(/^1 turn, [\d,]+ tokens in/), here])
  })

  it('S10: /new has the old session looked through, and a failure of that changes nothing', async () => {
    let reply: (request: Parameters<ReturnType<typeof noting>>[0]) => Reply = noting([
      'memory_save',
      { text: 'Ada leaves on Friday.', lines: [1] },
    ])
    const home = await startRemembering(NEVER, { script: remembering((request) => reply(request)) })
    await home.say('I leave on Friday')
    expect(await home.say('/new')).toMatch(/^Done: a fresh conversation/)
    expect((await home.logger.line(WRITTEN)).fields).toMatchObject({ reason: 'new_session', saved: 1 })
    expect(await home.say('hello again')).toBe('heard')
    expect(home.asked().at(-1)).not.toContain('Friday')
    reply = () => ({ error: { status: 400, type: 'invalid_request_error' } })
    expect(await home.say('/new')).toMatch(/^Done: a fresh conversation/)
    await home.logger.line('A checkpoint failed and is tried again later')
    expect(await home.say('and again')).toBe('heard')
  })

  it('S38: one that fails is tried again later, and people are answered meanwhile', async () => {
    let fails = true
    const clock = setClock('2026-11-23T10:00:00Z')
    const home = await startRemembering(
      { ...NEVER, turns: 1 },
      {
        clock,
        script: remembering((request) =>
          fails ? { error: { status: 400, type: 'invalid_request_error' } } : noting()(request),
        ),
      },
    )
    expect(await home.say('one')).toBe('heard')
    await home.logger.line('A checkpoint failed and is tried again later')
    expect(await home.say('two')).toBe('heard')
    fails = false
    clock.skip(MINUTE)
    expect((await home.logger.line(WRITTEN)).fields.reason).toBe('turn_limit')
  })

  it('S35: strangers cause none', async () => {
    const access = { direct: 'public', groups: [] } as const
    const home = await startRemembering({ ...NEVER, turns: 1 }, { routing: { access } })
    for (const n of [1, 2, 3]) await home.say(`stranger ${n}`, { from: 555 })
    expect(await home.say('/checkpoint', { from: 555 })).toBe('Only people whom my owner knows may do that.')
    expect(await home.say('/remember me', { from: 555 })).toBe('Only people whom my owner knows may do that.')
    await home.say('/new', { from: 555 })
    await home.say('known', { from: 444 })
    await home.logger.line(WRITTEN)
    expect(home.lookedThrough()).toHaveLength(1)
    expect(home.lookedThrough()[0]).toContain('known')
  })
})
