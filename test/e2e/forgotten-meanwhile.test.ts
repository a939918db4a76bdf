import { join } from 'node:path'
import { expect, it } from 'vitest'
import { toAgentId } from '../../src/core/ids.ts'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { createGate } from '../../src/rehearsal/deferred.ts'
import { fileFields } from '../../src/rehearsal/telegram/files.ts'
import { withDatabase } from '../store/temp-database.ts'
import { AwaitedLog } from './awaited-log.ts'
import { forgettingHouse, holding } from './forgetting-house.ts'
import { recorded, startHousehold } from './household.ts'
import { toolResult } from './obedient.ts'
import { noting, remembering, startRemembering } from './remembering.ts'
import { type SetClock, setClock } from './set-clock.ts'

const MARK = 'zq9canary-4711'

/** The call that a text names is made with the mark; what says "slowly" waits then, and the mark is said. */
async function house({ clock, log }: { clock?: SetClock; log?: AwaitedLog } = {}) {
  const gate = createGate()
  const script: Script = (request) => {
    const text = lastUserText(request)
    const holds = [{ beforeDelta: 0, gate }]
    if (toolResult(request) !== undefined) return textReply(`done ${MARK}`, { holds })
    if (!text.includes('slowly')) return textReply(`heard: ${text.split('\n').at(-1)}`)
    const [, tool, args] = /((?:memory|schedule)_\w+) (\{.*\})/.exec(text) ?? []
    if (tool === undefined || args === undefined) return textReply(`slow ${MARK}`, { holds })
    return { blocks: [{ type: 'tool_use', name: tool, input: JSON.parse(args) }] }
  }
  const house = await forgettingHouse({ script, ...(clock ? { clock } : {}), ...(log ? { logger: log } : {}) })
  return { ...house, gate, group: house.addGroup('Family') }
}

it.each([
  ['a memory', `memory_save {"text":"it is ${MARK}"}`],
  ['a reminder', `schedule_create {"text":"it is ${MARK}","every":"2h"}`],
])('S41: %s that a running turn has made of it goes with the turn', async (_what, call) => {
  const { home, world, ledger, gate, say } = await house()
  await say(`it is ${MARK}`)
  world.say({ from: 111, text: `slowly ${call}` })
  await gate.reached
  expect(await say('/forget chat yes')).toContain('I am still answering something there')
  const after = ledger.mark()
  gate.release()
  await ledger.nextFromBot('sent', { after, where: ({ text }) => text.includes(`done ${MARK}`) })
  await expect.poll(() => holding(home.dataDir, MARK)).toEqual([])
})

it('S41: of a message that is being answered it is not said that there is nothing, and it goes with its turn', async () => {
  const { home, world, ledger, gate, say } = await house()
  world.say({ from: 111, text: `slowly, it is ${MARK}` })
  await gate.reached
  expect(await say('/forget last')).toMatch(/^Nothing is removed yet: I am still answering there\. It goes once/)
  const after = ledger.mark()
  gate.release()
  await ledger.nextFromBot('sent', { after, where: ({ text }) => text === `slow ${MARK}` })
  await expect.poll(() => holding(home.dataDir, MARK)).toEqual([])
})

it('S41: an answer that an earlier request has emptied is deleted in the chat when its message is forgotten', async () => {
  const log = new AwaitedLog()
  const { world, ledger, gate } = await house({ log })
  const forget = async (replyTo: number, nth = 1) => {
    const [after, done] = [ledger.mark(), log.line('Something was forgotten', { nth })]
    world.say({ from: 111, text: '/forget', replyTo })
    await ledger.nextFromBot('sent', { after, where: ({ text }) => /^(Forgotten|Nothing)/.test(text) })
    return done
  }
  const { message_id: first } = world.say({ from: 111, text: 'one thing' })
  await ledger.nextFromBot('sent')
  const { message_id: second } = world.say({ from: 111, text: 'slowly' })
  await gate.reached
  const emptied = forget(first)
  await ledger.nextFromBot('sent', { where: ({ text }) => text.startsWith('Forgotten') })
  gate.release()
  const { messageId } = await ledger.nextFromBot('sent', { where: ({ text }) => text === `slow ${MARK}` })
  await emptied
  await forget(second, 2)
  await ledger.nextFromBot('deleted', { where: (entry) => entry.messageId === messageId })
})

it('S41: the words that a running turn has given to a task, which runs as well, go with both', async () => {
  const gate = createGate()
  const script: Script = (request) => {
    if (toolResult(request) !== undefined) return textReply('done')
    if (!lastUserText(request).includes('begin')) return { ...textReply('waited'), holds: [{ beforeDelta: 0, gate }] }
    return { blocks: [{ type: 'tool_use', name: 'task', input: { task: `it is ${MARK}` } }] }
  }
  const agents = [{ id: toAgentId('main'), model: 'anthropic/claude-haiku-4-5', prompt: 'Talk.', tools: ['task'] }]
  const { telegram, dataDir } = await startHousehold({ script, streaming: false, config: { agents } })
  const { world, ledger } = telegram
  world.say({ from: 111, text: `begin: it is ${MARK}` })
  await gate.reached
  world.say({ from: 111, text: '/forget chat yes' })
  await ledger.nextFromBot('sent', { where: ({ text }) => text.includes('I am still answering') })
  gate.release()
  await expect.poll(() => holding(dataDir, MARK)).toEqual([])
})

it('S41: the file of a message that a running turn answers goes with it', async () => {
  const { home, world, ledger, gate, say } = await house()
  const bytes = Buffer.from(`inside: ${MARK}`)
  world.say({
    ...{ from: 111, text: '' },
    extra: fileFields(world, { as: 'document', name: 'note.txt', bytes, caption: 'slowly' }),
  })
  await gate.reached
  expect(await say('/forget chat yes')).toContain('I am still answering something there')
  const after = ledger.mark()
  gate.release()
  await ledger.nextFromBot('sent', { after, where: ({ text }) => text === `slow ${MARK}` })
  await expect.poll(() => holding(home.dataDir, MARK)).toEqual([])
})

it('S41: the answer of another conversation that was shown a memory of it goes too', async () => {
  const { home, world, ledger, gate, group, say } = await house()
  await say(`/remember it is ${MARK}`, { chat: group })
  world.say({ from: 111, text: 'slowly, what is it?' })
  await gate.reached
  expect(await say('/forget chat yes', { chat: group })).toMatch(/^Forgotten: /)
  const after = ledger.mark()
  gate.release()
  await ledger.nextFromBot('sent', { after, where: ({ text }) => text === `slow ${MARK}` })
  await expect.poll(() => holding(home.dataDir, MARK)).toEqual([])
})

it('S41: what somebody had remembered in a chat where they said nothing else goes with the chat', async () => {
  const { home, group, say } = await house()
  await say(`/remember it is ${MARK}`, { chat: group })
  expect(await say('/forget chat yes', { chat: group })).toContain('1 memory')
  expect(holding(home.dataDir, MARK)).toEqual([])
})

it('S41: what fails for any reason is tried again within the hour', async () => {
  const clock = setClock('2026-11-24T09:20:00Z')
  const log = new AwaitedLog()
  const { home, world, say } = await house({ clock, log })
  const change = (sql: string) => withDatabase(join(home.dataDir, 'parley.db'), (database) => database.exec(sql))
  await say(`it is ${MARK}`)
  change("CREATE TRIGGER full BEFORE UPDATE ON forgettings BEGIN SELECT RAISE(ABORT, 'the disk is full'); END")
  world.say({ from: 111, text: '/forget chat yes' })
  await log.line('Something is not forgotten as a whole; it is tried again within the hour, and at the next start')
  change('DROP TRIGGER full')
  clock.skip(60_000)
  await log.line('Something was forgotten')
  expect(holding(home.dataDir, MARK)).toEqual([])
})

it('S41: a checkpoint that was looking through it makes nothing of it', async () => {
  const gate = createGate()
  const learned = noting(['memory_save', { text: `The safe opens with ${MARK}.`, lines: [1] }])
  const home = await startRemembering(
    { turns: 100, quietGroupMessages: 100, idleMinutes: 1_000 },
    { script: remembering((request) => ({ ...learned(request), holds: [{ beforeDelta: 0, gate }] })) },
  )
  const { world, ledger } = home.telegram
  const { message_id: id } = world.say({ from: 111, text: `the safe opens with ${MARK}` })
  await ledger.nextFromBot('sent')
  world.say({ from: 111, text: '/checkpoint' })
  await gate.reached
  const after = ledger.mark()
  world.say({ from: 111, text: '/forget', replyTo: id })
  await ledger.nextFromBot('sent', { after, where: ({ text }) => text.startsWith('Forgotten: ') })
  gate.release()
  await ledger.nextFromBot('sent', {
    after,
    where: ({ text }) => text === 'What was being looked through was changed.',
  })
  expect(await home.say('/memory')).not.toContain(MARK)
  expect(holding(home.dataDir, MARK)).toEqual([])
})

/** Sends the mark to the group from Ada's chat; the platform holds what has the mark in it. */
async function onItsWay() {
  const script: Script = (request) => {
    if (toolResult(request) !== undefined) return textReply('done')
    const [, to] = /tell (\S+)/.exec(lastUserText(request)) ?? []
    if (to === undefined) return textReply('heard')
    return { blocks: [{ type: 'tool_use', name: 'send_message', input: { to, text: `it is ${MARK}` } }] }
  }
  const agents = [{ id: toAgentId('main'), model: 'anthropic/claude-haiku-4-5', prompt: 'Talk.', tools: ['message'] }]
  const toolPolicy = [{ tools: ['send_message'], who: ['everybody'], action: 'allow' }] as const
  const { home, ledger, addGroup, say, prompt } = await forgettingHouse({ script, config: { agents, toolPolicy } })
  const group = addGroup('Family')
  await say('hello', { chat: group })
  const hold = home.telegram.faults.add({
    method: 'sendMessage',
    where: (call) => JSON.stringify(call).includes(MARK),
    action: { kind: 'hold', when: 'before' },
  })
  const { world } = home.telegram
  /** What is held is not recorded before it is let go. */
  const meanwhile = async (text: string) => {
    const after = ledger.mark()
    world.say({ from: 111, text })
    return (await ledger.nextFromBot('sent', { after, where: ({ chatId }) => chatId === 111 })).text
  }
  await meanwhile(`tell telegram:group:${group} that it is ${MARK}`)
  await hold.reached
  return { home, ledger, hold, group, say, meanwhile, prompt }
}

it('S41: what was on its way to another conversation meanwhile leaves no word in the log of that', async () => {
  const { home, ledger, hold, group, say, meanwhile, prompt } = await onItsWay()
  expect(await meanwhile('/forget last')).toContain('1 text that was not sent yet')
  const after = ledger.mark()
  hold.release()
  await ledger.nextFromBot('sent', { after, where: ({ chatId }) => chatId === group })
  await recorded(home)
  await say('and now?', { chat: group })
  expect(prompt()).not.toContain(MARK)
  expect(holding(home.dataDir, MARK)).toEqual([])
})
