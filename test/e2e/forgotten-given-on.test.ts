import { expect, it } from 'vitest'
import type { HookSettings } from '../../src/config/config.ts'
import { toAgentId } from '../../src/core/ids.ts'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { createGate } from '../../src/rehearsal/deferred.ts'
import { forgettingHouse, holding } from './forgetting-house.ts'
import { heldHook } from './held-hook.ts'
import { toolResult } from './obedient.ts'

const MARK = 'zq9canary-4711'
const GROUP = -1001234567890
const OTHER = `telegram:group:${GROUP}`
const TOOLS = ['task', 'sessions', 'message', 'memory', 'schedule', 'files', 'react']

interface Rules {
  readonly hooks?: readonly HookSettings[]
  readonly action?: 'allow' | 'ask'
}

/** What says "begin" has the call made, once the gate is open; the result of the call is said. */
async function house(
  tool: string,
  input: Readonly<Record<string, unknown>>,
  { hooks = [], action = 'allow' }: Rules = {},
) {
  const gate = createGate()
  const script: Script = (request) => {
    const result = toolResult(request)
    if (result !== undefined) return textReply(`result: ${result}`)
    if (!lastUserText(request).includes('begin')) return textReply('fine')
    return { blocks: [{ type: 'tool_use', name: tool, input }], holds: [{ beforeDelta: 0, gate }] }
  }
  const agents = [{ id: toAgentId('main'), model: 'anthropic/claude-haiku-4-5', prompt: 'Talk.', tools: TOOLS }]
  const toolPolicy = [{ tools: ['*'], who: ['everybody'], action }] as const
  const made = await forgettingHouse({ script, config: { agents, toolPolicy, hooks } })
  made.world.addChat({ type: 'supergroup', title: 'Family', id: GROUP, members: [111, 444] })
  await made.say('hello', { chat: GROUP })
  return { ...made, gate }
}

const KEEPING = [
  ['task', { task: `it is ${MARK}` }],
  ['sessions_send', { sessionKey: OTHER, message: `it is ${MARK}` }],
  ['send_message', { to: OTHER, text: `it is ${MARK}` }],
  ['memory_save', { text: `it is ${MARK}` }],
  ['schedule_create', { text: `it is ${MARK}`, every: '2h' }],
  ['send_file', { name: 'note.txt', text: `it is ${MARK}` }],
] as const

it.each(KEEPING)(
  'S41: %s is refused to a turn whose words are being forgotten, and nothing of them goes on',
  async (tool, input) => {
    const { home, world, ledger, gate, say, rows } = await house(tool, input)
    world.say({ from: 111, text: `begin: it is ${MARK}` })
    await gate.reached
    expect(await say('/forget chat yes')).toContain('I am still answering something there')
    const after = ledger.mark()
    gate.release()
    const { text } = await ledger.nextFromBot('sent', { after })
    expect(text).toContain('is being forgotten')
    expect(rows('SELECT id FROM sessions').match(/"id"/g)).toHaveLength(2)
    await expect.poll(() => holding(home.dataDir, MARK)).toEqual([])
  },
)

it.each(KEEPING)(
  'S41: nothing is left of %s if the request comes between its permission and its commit',
  async (tool, input) => {
    const { hook, asked, answer } = await heldHook('before_tool')
    const { home, world, ledger, gate, say } = await house(tool, input, { hooks: [hook] })
    gate.release()
    world.say({ from: 111, text: `begin: it is ${MARK}` })
    await asked
    expect(await say('/forget chat yes')).toContain('I am still answering something there')
    const after = ledger.mark()
    answer()
    const { text } = await ledger.nextFromBot('sent', { after, where: ({ text }) => text.startsWith('result: ') })
    // A file is said in the chat itself: it goes there, and with the turn.
    expect(text).toContain(tool === 'send_file' ? 'On its way' : 'is being forgotten')
    await expect.poll(() => holding(home.dataDir, MARK)).toEqual([])
  },
)

it('S41: nobody is asked about a call if the request comes before the question', async () => {
  const { hook, asked, answer } = await heldHook('before_tool')
  const { home, world, ledger, gate, say } = await house(...KEEPING[2], { hooks: [hook], action: 'ask' })
  gate.release()
  world.say({ from: 111, text: `begin: it is ${MARK}` })
  await asked
  await say('/forget chat yes')
  const after = ledger.mark()
  answer()
  const { text } = await ledger.nextFromBot('sent', { after })
  expect(text).toContain('is being forgotten')
  await expect.poll(() => holding(home.dataDir, MARK)).toEqual([])
})

it.each([
  ['memory_search', { words: 'the safe' }],
  ['sessions_list', {}],
  ['react', { emoji: '👍' }],
] as const)('S41: %s, which keeps no words, is left to such a turn', async (tool, input) => {
  const { world, ledger, gate, say } = await house(tool, input)
  world.say({ from: 111, text: `begin: it is ${MARK}` })
  await gate.reached
  await say('/forget chat yes')
  const after = ledger.mark()
  gate.release()
  const { text } = await ledger.nextFromBot('sent', { after })
  expect(text).not.toContain('is being forgotten')
})

it('S41: of another person in the group only the turn is refused that was shown it, and no later one', async () => {
  const { world, ledger, gate, say } = await house('memory_save', { text: 'the safe is green' })
  await say('the bin goes out', { chat: GROUP })
  world.say({ from: 444, chat: GROUP, text: '@parley_bot begin: the safe is green' })
  await gate.reached
  await say('/forget last', { chat: GROUP })
  const after = ledger.mark()
  gate.release()
  await ledger.nextFromBot('sent', { after, where: ({ text }) => text.includes('is being forgotten') })
  expect(await say('begin', { from: 444, chat: GROUP })).toContain('Remembered')
})

it('S41: a turn that was shown nothing of what somebody else has forgotten meanwhile goes on as it was', async () => {
  const { world, ledger, gate, say } = await house('memory_save', { text: 'the safe is green' })
  world.say({ from: 111, chat: GROUP, text: '@parley_bot begin: the safe is green' })
  await gate.reached
  world.say({ from: 444, chat: GROUP, text: 'the bin goes out' })
  expect(await say('/forget last', { from: 444, chat: GROUP })).toMatch(/^Forgotten/)
  const after = ledger.mark()
  gate.release()
  const { text } = await ledger.nextFromBot('sent', { after, where: ({ text }) => text.startsWith('result: ') })
  expect(text).toContain('Remembered')
})
