import { expect, it } from 'vitest'
import { toAgentId } from '../../src/core/ids.ts'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { createGate } from '../../src/rehearsal/deferred.ts'
import type { MessageEntry } from '../../src/rehearsal/telegram/ledger-entries.ts'
import { AwaitedLog } from './awaited-log.ts'
import { ask, family, GROUP, hear, lastPrompt } from './family-group.ts'
import { type Household, recorded } from './household.ts'
import { toolResult } from './obedient.ts'

const MOVED = 'A group has a new id; change it in the configuration where it is named'

/** Lets the bot answer a command as the message of this number. */
async function answerAs({ telegram: { world, ledger } }: Household, chat: number, number: number): Promise<void> {
  while (world.say({ from: 444, chat, text: 'hm' }).message_id < number - 2);
  const after = ledger.mark()
  world.say({ from: 111, chat, text: '/whoami@parley_bot' })
  expect((await ledger.nextFromBot('sent', { after, where: ({ chatId }) => chatId === chat })).messageId).toBe(number)
}

/** Takes back the last exchange once its answer has the number of another message there; neither is deleted. */
async function undoDeletesNothing(house: Household, chat: number, number: number): Promise<void> {
  const { world, ledger } = house.telegram
  await answerAs(house, chat, number)
  const after = ledger.mark()
  world.say({ from: 444, chat, text: '/undo@parley_bot' })
  const isAnswer = ({ chatId, text }: MessageEntry) => chatId === chat && text.includes('Taken back')
  await ledger.nextFromBot('sent', { after, where: isAnswer })
  await ask(house, chat, 'next')
  await house.daemon.stop()
  expect(world.messages(chat, { deleted: true })).toEqual([])
}

/** A household whose group has got a new id while the agent works on an answer there, which the gate lets out. */
async function movedAtWork() {
  const [gate, log] = [createGate(), new AwaitedLog()]
  const house = await family({ logger: log, script: () => textReply('done', { holds: [{ beforeDelta: 0, gate }] }) })
  const { world } = house.telegram
  world.say({ from: 444, chat: GROUP, text: '@parley_bot work' })
  await gate.reached
  const { id } = world.migrate(GROUP)
  await log.line(MOVED)
  return { house, log, gate, id }
}

async function sessions({ daemon }: Household): Promise<number> {
  return (await daemon.operator.sessions.list({ limit: 10, offset: 0, inactive: true })).total
}

it('F-C07: what was said before the notice of the same poll is said in the conversation of the group', async () => {
  const house = await family()
  const { world, ledger } = house.telegram
  await ask(house, GROUP, 'one')
  await house.daemon.stop()
  world.say({ from: 444, chat: GROUP, text: '@parley_bot two' })
  const { id } = world.migrate(GROUP)
  world.say({ from: 444, chat: id, text: '@parley_bot three' })
  await house.restart()
  await ledger.nextFromBot('sent', { where: ({ chatId, text }) => chatId === id && text.includes('three') })
  await house.daemon.stop()
  const texts = world.messages(id, { by: 'bot' }).map(({ message }) => message.text)
  expect(texts).toEqual([expect.stringContaining('two'), expect.stringContaining('three')])
  await house.restart()
  expect(await sessions(house)).toBe(1)
  expect(lastPrompt(house)).toMatch(/heard \[Bob\] @parley_bot one.*two.*three/)
})

it('F-C07, T31: a turn that began before its group got a new id says nothing where that is muted', async () => {
  const { house, log, id, gate } = await movedAtWork()
  const { world, ledger } = house.telegram
  const after = ledger.mark()
  world.say({ from: 111, chat: id, text: '/mute@parley_bot 1h' })
  await ledger.nextFromBot('sent', { after, where: ({ chatId }) => chatId === id })
  gate.release()
  expect(await Promise.race([log.line('Answered'), log.line('Ended without an answer')])).toMatchObject({
    sentence: 'Ended without an answer',
  })
})

it('F-C07, S43: an answer that grows while its group gets a new id takes the place of no message there', async () => {
  const [gate, log] = [createGate(), new AwaitedLog()]
  const script: Script = (request) =>
    lastUserText(request).includes('work')
      ? textReply('half of the answer and the rest', { holds: [{ beforeDelta: 1, gate }] })
      : hear(request, 0)
  const house = await family({ logger: log, streaming: true, script, delivery: { liveAfterMs: 0 } })
  const { world, ledger } = house.telegram
  await ask(house, GROUP, 'one')
  await ask(house, GROUP, 'two')
  const after = ledger.mark()
  world.say({ from: 444, chat: GROUP, text: '@parley_bot work' })
  const grown = await ledger.nextFromBot('sent', { after })
  await gate.reached
  const { id } = world.migrate(GROUP)
  await log.line(MOVED)
  await answerAs(house, id, grown.messageId)
  gate.release()
  const { messageId } = await ledger.nextFromBot('sent', { where: ({ text }) => text.includes('the rest') })
  await recorded(house)
  world.say({ from: 444, chat: id, text: '/undo@parley_bot' })
  await ledger.nextFromBot('deleted', { where: (entry) => entry.chatId === id && entry.messageId === messageId })
  expect(world.messages(id).find(({ message }) => message.message_id === grown.messageId)?.message.text).toContain(
    '111',
  )
})

it('F-C07, S43: taking back an answer of before its group got a new id deletes no message there', async () => {
  const log = new AwaitedLog()
  const house = await family({ logger: log })
  const { world } = house.telegram
  await ask(house, GROUP, 'one')
  await ask(house, GROUP, 'two')
  const answer = await ask(house, GROUP, 'three')
  const { id } = world.migrate(GROUP)
  await log.line(MOVED)
  await undoDeletesNothing(house, id, answer.messageId)
})

it('F-C07, S43: an answer that followed its group to the new id can be taken back there', async () => {
  const { house, id, gate } = await movedAtWork()
  const { world, ledger } = house.telegram
  gate.release()
  const { messageId } = await ledger.nextFromBot('sent', { where: ({ text }) => text === 'done' })
  const after = ledger.mark()
  world.say({ from: 444, chat: id, text: '/undo@parley_bot' })
  expect(await ledger.nextFromBot('deleted', { after })).toMatchObject({ chatId: id, messageId })
})

it('F-C07, S43: taking back an answer that was being sent when its group got a new id deletes none there', async () => {
  const log = new AwaitedLog()
  const house = await family({ logger: log })
  const { world, faults } = house.telegram
  await ask(house, GROUP, 'one')
  await ask(house, GROUP, 'two')
  const held = faults.add({ method: 'sendMessage', action: { kind: 'hold', when: 'after' }, times: 1 })
  const answer = await ask(house, GROUP, 'three')
  const { id } = world.migrate(GROUP)
  await log.line(MOVED)
  held.release()
  await undoDeletesNothing(house, id, answer.messageId)
})

it('F-C07: an answer that follows its group to the new id is a reply to no message there', async () => {
  const [gate, log] = [createGate(), new AwaitedLog()]
  const script: Script = (request) =>
    lastUserText(request).includes('work') ? textReply('done', { holds: [{ beforeDelta: 0, gate }] }) : hear(request, 0)
  const house = await family({ logger: log, script })
  const { world, ledger } = house.telegram
  await ask(house, GROUP, 'one')
  await ask(house, GROUP, 'two')
  const asked = world.say({ from: 444, chat: GROUP, text: '@parley_bot work' })
  await gate.reached
  const { id } = world.migrate(GROUP)
  await log.line(MOVED)
  await answerAs(house, id, asked.message_id)
  gate.release()
  const { message } = await ledger.nextFromBot('sent', {
    where: ({ chatId, text }) => chatId === id && text === 'done',
  })
  expect(message).not.toHaveProperty('reply_to_message')
  world.say({ from: 444, chat: id, text: '/undo@parley_bot' })
  const isGone = ({ messageId }: MessageEntry) => messageId === message.message_id
  await ledger.nextFromBot('deleted', { where: isGone })
})

it('F-C07: what is continued in a group by its former id is there, though nothing was said in it before', async () => {
  const log = new AwaitedLog()
  const house = await family({ logger: log })
  const { world, ledger } = house.telegram
  world.say({ from: 111, text: 'dinner at seven' })
  await ledger.nextFromBot('sent')
  const { id } = world.migrate(GROUP)
  await log.line(MOVED)
  const { archives } = house.daemon.operator
  const to = `telegram:group:${GROUP}`
  expect(await archives.relocate('telegram:direct:111', { kind: 'fork', to, confirmed: true })).toMatchObject({
    key: `telegram:group:${id}`,
  })
  await ask(house, id, 'when?')
  expect(lastPrompt(house)).toContain('dinner at seven')
})

it('F-C07, S7: an emoji for a message of before its group got a new id stands on no message there', async () => {
  const [gate, log] = [createGate(), new AwaitedLog()]
  const script: Script = (request) => {
    const result = toolResult(request)
    if (result !== undefined) return textReply(`it says: ${result}`)
    if (!lastUserText(request).includes('put')) return hear(request, 0)
    return { blocks: [{ type: 'tool_use', name: 'react', input: { emoji: '👍' } }], holds: [{ beforeDelta: 0, gate }] }
  }
  const agents = [{ id: toAgentId('main'), model: 'anthropic/rehearsal', prompt: 'Obey.', tools: ['react'] }]
  const house = await family({ logger: log, script, config: { agents } })
  const { world, ledger } = house.telegram
  await ask(house, GROUP, 'one')
  const asked = world.say({ from: 111, chat: GROUP, text: '@parley_bot put it' })
  await gate.reached
  const { id } = world.migrate(GROUP)
  await log.line(MOVED)
  while (world.say({ from: 444, chat: id, text: 'hm' }).message_id < asked.message_id);
  gate.release()
  const { text } = await ledger.nextFromBot('sent', { where: ({ text: said }) => said.includes('it says') })
  expect(text).toContain('There is no such message here')
  expect(world.messages(id).flatMap(({ reactions }) => [...reactions.values()])).toEqual([])
})
