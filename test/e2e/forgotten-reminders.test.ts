import { expect, it } from 'vitest'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { createGate } from '../../src/rehearsal/deferred.ts'
import { forgettingHouse, holding } from './forgetting-house.ts'
import { recorded } from './household.ts'
import { toolResult } from './obedient.ts'

/** Too short to be known by itself wherever it is repeated. */
const WORDS = 'zqx pills'

const script: Script = (request) => {
  if (toolResult(request) !== undefined) return textReply('noted')
  if (!lastUserText(request).includes('every evening')) return textReply('fine')
  return { blocks: [{ type: 'tool_use', name: 'schedule_create', input: { text: WORDS, every: '3h' } }] }
}

it.each([
  ['a command', `/remind in 2 hours ${WORDS}`],
  ['the agent, in words of its own', 'what I take every evening must not be missed'],
])('S41: a reminder made by %s goes with the message that asked for it', async (_what, asked) => {
  const { home, say, exchange, addGroup, rows } = await forgettingHouse({ script })
  const chat = addGroup('Family')
  await say('/remind in 3 hours another zqy', { from: 111, chat })
  const { id } = await exchange(asked, { from: 444, chat })
  expect(rows('SELECT definition FROM schedules')).toContain(WORDS)
  expect(await say('/forget', { from: 444, chat, replyTo: id })).toContain('1 reminder')
  const left = await say('/remind list', { from: 444, chat })
  expect(left).not.toContain(WORDS)
  expect(left).toContain('another zqy')
  await expect.poll(() => holding(home.dataDir, 'zqx')).toEqual([])
})

it('S41: what a turn that several people share has made for one of them stays when another forgets', async () => {
  const gate = createGate()
  const slow: Script = (request) => {
    const text = JSON.stringify(request.messages.at(-1))
    if (toolResult(request) !== undefined) return textReply('noted')
    if (text.includes('slowly')) return { ...textReply('fine'), holds: [{ beforeDelta: 0, gate }] }
    return { blocks: [{ type: 'tool_use', name: 'schedule_create', input: { text: WORDS, every: '3h' } }] }
  }
  const { home, world, ledger, say, addGroup, rows } = await forgettingHouse({ script: slow })
  const chat = addGroup('Family')
  world.say({ from: 111, chat, text: '@parley_bot slowly' })
  await gate.reached
  world.say({ from: 444, chat, text: '@parley_bot what a day' })
  world.say({ from: 111, chat, text: '@parley_bot my pills, every evening' })
  await expect.poll(() => rows('SELECT dispatch FROM inbox')).toContain('my pills, every')
  const after = ledger.mark()
  gate.release()
  await ledger.nextFromBot('sent', { after, where: ({ text }) => text === 'noted' })
  await recorded(home)
  expect(rows('SELECT definition FROM schedules')).toContain(WORDS)
  expect(await say('/forget me yes', { from: 444, chat })).toMatch(/^Forgotten/)
  expect(rows('SELECT definition FROM schedules')).toContain(WORDS)
  expect(await say('/forget me yes', { from: 111, chat })).toContain('1 reminder')
})
