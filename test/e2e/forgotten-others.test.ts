import { describe, expect, it } from 'vitest'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { createGate } from '../../src/rehearsal/deferred.ts'
import { forgettingHouse } from './forgetting-house.ts'

async function house() {
  const gates = { first: createGate(), second: createGate() }
  const script: Script = (request) => {
    const text = lastUserText(request)
    const gate = text.includes('wait first') ? gates.first : text.includes('wait second') ? gates.second : undefined
    const answer = textReply(`heard: ${text.split('\n').at(-1)}`)
    return gate === undefined ? answer : { ...answer, holds: [{ beforeDelta: 0, gate }] }
  }
  const { addGroup, rows, ...rest } = await forgettingHouse({ script })
  const received = (): string => rows('SELECT dispatch FROM inbox')
  return { ...rest, gates, family: addGroup('Family'), club: addGroup('Club'), received }
}

const GUESS = 'take the blue pill with some water'

describe('a member who forgets', () => {
  it('S41: takes no reminder of somebody else, however alike the words are', async () => {
    const { family, say } = await house()
    await say(`/remind in 2 hours ${GUESS}`)
    await say(`/remind in 3 hours ${GUESS}`, { chat: family })
    await say(GUESS, { from: 444, chat: family })
    expect(await say('/forget 1h', { from: 444, chat: family })).not.toContain('reminder')
    await say('/forget last', { from: 444, chat: family })
    expect(await say('/remind list')).toContain(GUESS)
    expect(await say('/remind list', { chat: family })).toContain(GUESS)
  })

  it('S41: takes nothing that somebody else had remembered in their own words', async () => {
    const { family, say } = await house()
    await say(`/remember ${GUESS}`, { chat: family })
    await say(GUESS, { from: 444, chat: family })
    await say('/forget last', { from: 444, chat: family })
    expect(await say('/memory', { chat: family })).toContain(GUESS)
  })

  it('S41: learns from the preview nothing of what is said where they are not', async () => {
    const { say } = await house()
    await say('the safe opens with qz77881199 alone')
    const shown = async (guess: string): Promise<string> => {
      await say(`perhaps ${guess}`, { from: 444 })
      return await say('/forget me', { from: 444 })
    }
    const numbers = (preview: string): readonly number[] => (preview.match(/\d+/g) ?? []).map(Number)
    const less = (one: readonly number[], other: readonly number[]) => one.map((count, at) => count - (other[at] ?? 0))
    const first = await shown('qz00000001')
    const wrong = await shown('qz00000002')
    const right = await shown('qz77881199')
    expect(less(numbers(right), numbers(wrong))).toEqual(less(numbers(wrong), numbers(first)))
  })

  it('S41: takes no quotation of another message that has the same number in another chat', async () => {
    const { world, family, club, say, exchange, received } = await house()
    const own = await exchange('a thing of mine', { from: 444, chat: family })
    let other = 0
    while (other < own.id) other = world.say({ from: 111, chat: club, text: 'the words of Ada' }).message_id
    expect(other).toBe(own.id)
    await say('what about this?', { from: 555, chat: club, replyTo: other })
    const quotes = () => received().split('the words of Ada').length
    const before = quotes()
    expect(await say('/forget', { from: 444, chat: family, replyTo: own.id })).toMatch(/^Forgotten: /)
    expect(quotes()).toBe(before)
  })

  it('S41: takes no message of somebody else that the same turn answers', async () => {
    const { home, world, ledger, gates, family, say, received } = await house()
    world.say({ from: 111, chat: family, text: '@parley_bot wait first' })
    await gates.first.reached
    world.say({ from: 111, chat: family, text: '@parley_bot the words of Ada' })
    world.say({ from: 444, chat: family, text: '@parley_bot wait second, the words of Bob' })
    await expect.poll(received, { timeout: 8_000 }).toContain('the words of Bob')
    const after = ledger.mark()
    gates.first.release()
    await ledger.nextFromBot('sent', { after, where: ({ text }) => text.endsWith('wait first') })
    await gates.second.reached
    expect(await say('/forget me yes', { from: 444, chat: family })).toContain('I am still answering')
    gates.second.release()
    await expect.poll(received, { timeout: 8_000 }).not.toContain('the words of Bob')
    expect(received()).toContain('the words of Ada')
    const [session] = (await home.daemon.operator.sessions.list({ limit: 1, offset: 0, inactive: false })).sessions
    const log = await home.daemon.operator.sessions.history(session?.id ?? '', { limit: 50 })
    expect(JSON.stringify(log)).toContain('the words of Ada')
  })

  it('S41: takes no message of somebody else, by a reply, its number or its link; an owner does', async () => {
    const { family, say, exchange, received } = await house()
    const { id } = await exchange('the words of Cy', { from: 555, chat: family })
    const link = `https://t.me/c/${String(family).slice(4)}/${id}`
    const from = { from: 444, chat: family }
    for (const [asked, how] of [
      ['/forget', { ...from, replyTo: id }],
      [`/forget ${id}`, from],
      [`/forget ${link}`, from],
    ] as const)
      expect(await say(asked, how)).toMatch(/^That message is not yours/)
    expect(received()).toContain('the words of Cy')
    expect(await say('/forget', { chat: family, replyTo: id })).toMatch(/^Forgotten: /)
    expect(received()).not.toContain('the words of Cy')
  })

  it('S41: learns nothing of whether a message is there in a chat that they name by its link', async () => {
    const { world, family, say } = await house()
    const { message_id: id } = world.say({ from: 111, chat: family, text: 'a thing' })
    await say('hello', { chat: family })
    const link = (message: number) => `https://t.me/c/${String(family).slice(4)}/${message}`
    const there = await say(`/forget ${link(id)}`, { from: 444 })
    const absent = await say(`/forget ${link(99_999)}`, { from: 444 })
    expect(there).toBe(absent)
  })
})
