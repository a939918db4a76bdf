import { describe, expect, it } from 'vitest'
import { errorCode } from '../../src/core/errors.ts'
import { toAgentId } from '../../src/core/ids.ts'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { createGate } from '../../src/rehearsal/deferred.ts'
import type { MessageEntry } from '../../src/rehearsal/telegram/ledger-entries.ts'
import { askingHousehold, codeOf, leftOpen } from './asking-household.ts'
import { type Household, recorded, startHousehold } from './household.ts'
import { setClock } from './set-clock.ts'

const script: Script = (request) => textReply(`heard ${lastUserText(request).split('\n').at(-1)}`)

/** Three groups, in the first two of which something was said. */
async function threeGroups(more: Parameters<typeof startHousehold>[0] = {}) {
  const house = await startHousehold({ script, streaming: false, ...more })
  const add = (title: string): number =>
    house.telegram.world.addChat({ type: 'supergroup', title, members: [111, 444] }).id
  const chats = ['Family', 'Club', 'Choir'].map(add) as [number, number, number]
  for (const [at, word] of ['apples', 'boats'].entries()) await say(house, chats[at] ?? 0, word)
  return { house, chats, keys: chats.map((chat) => `telegram:group:${chat}`) as [string, string, string] }
}

async function say(house: Household, chat: number, text: string): Promise<void> {
  const after = house.telegram.ledger.mark()
  house.telegram.world.say({ from: 111, chat, text: `@parley_bot ${text}` })
  await house.telegram.ledger.nextFromBot('sent', { after, where: ({ chatId }) => chatId === chat })
  await recorded(house)
}

/** Says something there, and returns which of the words the model is shown. */
async function shownIn(house: Household, chat: number): Promise<string> {
  await say(house, chat, 'and now?')
  const shown = JSON.stringify(house.anthropic?.ledger.requests().at(-1)?.messages)
  return ['apples', 'boats'].filter((word) => shown.includes(word)).join()
}

const relocate = ({ daemon }: Household, from: string, to: string) =>
  daemon.operator.archives.relocate(from, { kind: 'move', to, confirmed: true })

/** Asks for both at once; returns what came of each. */
function both(...asked: readonly Promise<unknown>[]): Promise<string[]> {
  return Promise.all(asked.map((one) => one.then(() => 'done', errorCode)))
}

describe('relocations that meet', () => {
  // Which of two comes first nobody says; the other one is refused, whichever it is.
  it.each([
    ['two that change places', [0, 1], [1, 0], [',apples,', 'boats,,']],
    ['one whose destination leaves', [0, 1], [1, 2], [',apples,', 'apples,,boats']],
    ['two into one place', [0, 2], [1, 2], [',boats,apples', 'apples,,boats']],
  ] as const)('K27: of %s one is carried out, and each place has one session', async (_, one, other, shown) => {
    const { house, chats, keys } = await threeGroups()
    const move = ([from, to]: readonly [0 | 1, 0 | 1 | 2]) => relocate(house, keys[from], keys[to])
    const ended = await both(move(one), move(other))
    expect(ended.toSorted()).toEqual(['conflict', 'done'])
    const words: string[] = []
    for (const chat of chats) words.push(await shownIn(house, chat))
    expect(words.join()).toBe(shown[ended.indexOf('done')])
    expect((await house.daemon.operator.sessions.list({ limit: 50, offset: 0, inactive: false })).total).toBe(3)
  })

  it('K27: while an answer grows nothing is moved, from there or there; it ends where it began', async () => {
    const gate = createGate()
    const { house, chats, keys } = await threeGroups({
      ...{ streaming: true, delivery: { liveAfterMs: 0 } },
      script: (request) =>
        lastUserText(request).includes('slowly')
          ? textReply('half of the answer and the rest', { holds: [{ beforeDelta: 1, gate }] })
          : script(request, 0),
    })
    const [one, other] = keys
    const { ledger, world } = house.telegram
    const after = ledger.mark()
    world.say({ from: 111, chat: chats[0], text: '@parley_bot slowly' })
    await ledger.nextFromBot('sent', { after, where: ({ chatId }) => chatId === chats[0] })
    await gate.reached
    for (const [from, to] of [
      [one, other],
      [other, one],
    ] as const)
      await expect(relocate(house, from, to)).rejects.toMatchObject({ code: 'conflict' })
    gate.release()
    await ledger.nextFromBot('edited', { after, where: sayingIn(chats[0], 'and the rest') })
    await recorded(house)
    await relocate(house, one, other)
    expect(await shownIn(house, chats[1])).toBe('apples')
    expect(JSON.stringify(house.anthropic?.ledger.requests().at(-1)?.messages)).toContain('and the rest')
  })
})

it('K27: a reminder is said where it was asked for, though that conversation is continued elsewhere', async () => {
  const clock = setClock('2026-11-24T09:20:00Z')
  const agents = [{ id: toAgentId('main'), model: 'anthropic/rehearsal', prompt: 'Obey.', tools: ['schedule'] }]
  const { house, chats, keys } = await threeGroups({ clock, config: { agents } })
  const { ledger, world } = house.telegram
  const heard = (words: string, after: number) =>
    ledger.nextFromBot('sent', { after, where: sayingIn(chats[0], words) })
  const asked = ledger.mark()
  world.say({ from: 111, chat: chats[0], text: '/remind@parley_bot in 5 hours to stretch' })
  await heard('I remind', asked)
  await relocate(house, keys[0], keys[1])
  await recorded(house)
  const due = ledger.mark()
  clock.skip(5 * 3_600_000)
  await heard('Reminder for ada: stretch', due)
})

const sayingIn = (chat: number, words: string) => (entry: MessageEntry) =>
  entry.chatId === chat && entry.text.includes(words)

describe('a relocation beside what waits for a person', () => {
  it('K27, S8: what is allowed late, once its session has left, is not made, and is said to be over', async () => {
    const clock = setClock('2026-11-23T10:00:00Z')
    const home = await askingHousehold({ clock })
    const move = () =>
      home.daemon.operator.archives.relocate('telegram:direct:111', { kind: 'move', to: 'cli:notes', confirmed: true })
    const card = await leftOpen(home, clock)
    await move()
    expect(await home.say(111, `/approve ${codeOf(card)}`, 'The question about pay')).toContain('is over')
    await home.say(111, 'hello again', 'fine')
    expect(home.paid).toEqual([])
  })

  it('K27, S7: a session whose card is open stays, and so does the one of the place to which it would go', async () => {
    const home = await askingHousehold()
    const card = await home.say(111, 'pay cy', 'May I use')
    const { relocate: ask } = home.daemon.operator.archives
    await expect(ask('telegram:direct:111', { kind: 'move', to: 'cli:notes', confirmed: true })).rejects.toMatchObject({
      code: 'conflict',
    })
    const after = home.ledger.mark()
    await home.say(111, `/approve ${codeOf(card)}`, 'Allowed')
    await home.heard(111, 'it says: paid', after)
    expect(home.paid).toEqual(['cy'])
  })
})
