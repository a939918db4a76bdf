import { describe, expect, it } from 'vitest'
import { textReply } from '../../src/rehearsal/anthropic/script.ts'
import { forgettingHouse, holding } from './forgetting-house.ts'
import { toolResult } from './obedient.ts'
import { noting, remembering } from './remembering.ts'

/** Too short to be known by itself wherever it is repeated. */
const PIN = 'zq47'

describe('an entry of memory', () => {
  it('S41: that a later checkpoint wrote anew goes with the message that it was first made of', async () => {
    const calls = [
      noting(['memory_save', { text: `The locker opens with ${PIN}.`, lines: [1] }]),
      noting(['memory_replace', { number: 1, text: `The locker in the cellar: ${PIN}.`, lines: [1] }]),
    ]
    const script = remembering((request) =>
      toolResult(request) === undefined ? (calls.shift() ?? noting())(request) : textReply('done'),
    )
    const { exchange, say } = await forgettingHouse({ script })
    const { id } = await exchange(`the locker opens with ${PIN}`)
    await say('/checkpoint')
    await say('it stands in the cellar')
    await say('/checkpoint')
    expect(await say('/memory')).toContain(`in the cellar: ${PIN}`)
    expect((await exchange('/forget', { replyTo: id })).answer).toContain('1 memory')
    expect(await say('/memory')).toBe('I remember nothing here yet.')
  })

  /** Has the agent keep what was said in the message before. */
  async function keptLater() {
    const script = remembering()
    const house = await forgettingHouse({
      script: (request, turn) => {
        const asked = JSON.stringify(request.messages.at(-1)).includes('note that')
        if (!asked || toolResult(request) !== undefined) return script(request, turn)
        return { blocks: [{ type: 'tool_use', name: 'memory_save', input: { text: `Locker: ${PIN}` } }] }
      },
    })
    const { id } = await house.exchange(`the locker opens with ${PIN}`)
    await house.say('please note that down')
    expect(await house.say('/memory')).toBe(`#1 Locker: ${PIN}`)
    return { ...house, id }
  }

  it('S41: that the agent kept when it was asked later goes with the message that had it', async () => {
    const { exchange, say, id } = await keptLater()
    expect((await exchange('/forget', { replyTo: id })).answer).toContain('1 memory')
    expect(await say('/memory')).toBe('I remember nothing here yet.')
  })
})

describe('a title', () => {
  it.each([
    ['of a chat where they said more', 'hello there'],
    ['of a chat where they said nothing else', undefined],
  ])('S41: goes with the words of whoever gave it, %s', async (_where, words) => {
    const { addGroup, say } = await forgettingHouse()
    const chat = addGroup('Family')
    await say('the title is free', { chat })
    if (words !== undefined) await say(words, { from: 444, chat })
    await say('/title Zoe is ill', { from: 444, chat })
    await say('/forget me yes', { from: 555, chat })
    expect(await say('/title', { chat })).toContain('Zoe is ill')
    await say('/forget me yes', { from: 444, chat })
    expect(await say('/title', { chat })).toContain('has no title')
  })
})

it.each([
  ['/forget 1h yes', 444, ['chat']],
  ['/forget me here yes', 444, ['chat']],
  ['/forget 1h yes', 111, ['chat']],
  ['/forget chat yes', 111, []],
] as const)(
  'S41: %s takes what was remembered by a command of it, too (%i, sessions by %j)',
  async (request, from, dimensions) => {
    const { home, addGroup, say } = await forgettingHouse({ routing: { dimensions } })
    const club = addGroup('Club')
    await say('hello', { from, chat: club })
    expect(await say('/remember cats', { from, chat: club })).toContain('cats')
    await say('/remember dogs', { from: from === 111 ? 444 : 111, chat: from === 111 ? addGroup('Family') : club })
    expect(await say(request, { from, chat: club })).toContain('1 memory')
    await expect.poll(() => holding(home.dataDir, 'cats')).toEqual([])
    expect(holding(home.dataDir, 'dogs')).not.toEqual([])
  },
)
