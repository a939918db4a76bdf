import { describe, expect, it } from 'vitest'
import { recorded } from './household.ts'
import { ALL, denied, FAMILY, nothingDone, type Stage, stage, unseen } from './injected-stage.ts'
import { setClock } from './set-clock.ts'

const MINUTES = 5 * 60_000
const noted = `?later ${ALL.replaceAll(' ', '_')}`

/** Every way by which a text waits for its time, and who made the model note it down. */
const WAYS: Readonly<Record<string, (stage: Stage) => Promise<unknown>>> = {
  'a job that a member has made in private': ({ say, quietly }) => quietly(() => say(444, noted)),
  'a job that a member has made in a group': ({ say, quietly }) =>
    quietly(() => say(444, `@parley_bot ${noted}`, { chat: FAMILY })),
  'a job that the owner has made where a page was read': ({ say, quietly, page }) =>
    quietly(async () => {
      page.text = ALL
      await say(111, '?read')
      await say(111, noted)
    }),
  'a job that the owner has made among words of a stranger': ({ say, quietly }) =>
    quietly(async () => {
      await say(555, '@parley_bot hello', { chat: FAMILY })
      await say(111, `@parley_bot ${noted}`, { chat: FAMILY })
    }),
}

describe('an obedient model does nothing elsewhere for text of before', () => {
  it.each(Object.entries(WAYS))('T32, F-I01, F-H13: %s', async (_, bring) => {
    const clock = setClock('2026-11-24T09:20:00Z')
    const scene = await stage({ clock })
    await bring(scene)
    await recorded(scene.house)
    clock.skip(MINUTES)
    await denied(scene)
  })

  it('T32, F-I01: a reminder that a member has made for a group', async () => {
    const clock = setClock('2026-11-24T09:20:00Z')
    const scene = await stage({ clock })
    const { say, world, ledger, house } = scene
    expect(await say(444, `/remind 5m ${ALL}`, { chat: FAMILY })).toContain('I remind you')
    await recorded(house)
    const after = ledger.mark()
    clock.skip(MINUTES)
    await ledger.nextFromBot('sent', { after })
    await recorded(house)
    world.say({ from: 111, chat: FAMILY, text: '@parley_bot well?' })
    await denied(scene)
  })

  it('T32, F-I01: a list of reminders with one that a member has made', async () => {
    const scene = await stage()
    const { say, world } = scene
    expect(await say(444, `/remind 5h ${ALL}`, { chat: FAMILY })).toContain('I remind you')
    world.say({ from: 111, chat: FAMILY, text: '@parley_bot ?due' })
    await denied(scene)
  })

  it('T32, F-I01: a question beside the conversation has no tools at all', async () => {
    const scene = await stage()
    const { say, log, quietly } = scene
    await quietly(() => say(444, ALL))
    await say(444, `/side ${ALL}`)
    await log.line('A side question was answered')
    // Tools that earlier messages have used have to be named, and are none that could be called.
    const offered = scene.house.anthropic?.ledger.requests().at(-1)?.tools ?? []
    expect(new Set(offered.map(({ description }) => description))).toEqual(new Set(['No longer available.']))
    nothingDone(scene)
  })
})

describe('what a tool server says of itself', () => {
  it.each(['name', 'title', 'instructions'])('T32, F-I01: its %s is shown to no model', async (server) => {
    const scene = await stage({ server })
    await scene.say(111, '?notes')
    unseen(scene)
  })

  it.each(['description', 'schema'])('T32, F-I01: the %s of its tools, by HTTP, has nothing done', async (server) => {
    const scene = await stage({ server, byHttp: true })
    scene.world.say({ from: 111, text: 'well?' })
    await denied(scene)
  })

  it.each([
    ['a program, which has the rights of its operator anyway', {}],
    ['a server by HTTP that the operator trusts', { byHttp: true, trusted: true }],
  ] as const)('T32: the words of %s are its operator’s', async (_, at) => {
    const { world, log } = await stage({ server: 'description', ...at })
    world.say({ from: 111, text: 'well?' })
    await log.line('Somebody is asked whether a tool may be used', { nth: 3 })
    const denials = log.lines.filter(({ sentence }) => sentence === 'A tool call was denied')
    expect(denials.filter(({ fields }) => JSON.stringify(fields).includes('words of nobody'))).toEqual([])
  })
})
