import { expect, it } from 'vitest'
import { parseAddress } from '../../src/core/address.ts'
import { toScheduleId } from '../../src/core/ids.ts'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { createGate } from '../../src/rehearsal/deferred.ts'
import { forgettingHouse, holding } from './forgetting-house.ts'
import { toolResult } from './obedient.ts'
import { isCheckpoint } from './remembering.ts'
import { setClock } from './set-clock.ts'

type World = Awaited<ReturnType<typeof forgettingHouse>>['world']

const MARK = 'zq9canary-4711'
const GROUP = -1001234567890
const KEY = `telegram:group:${GROUP}`

/** Makes the call that a message names, and says what came of it, or what it was shown where that is asked. */
const obeying: Script = (request) => {
  const result = toolResult(request)
  if (result !== undefined) return textReply(`result: ${result}`)
  const text = lastUserText(request)
  const [, name, input] = /call (\w+) (\{.*\})/.exec(text) ?? []
  if (name !== undefined && input !== undefined)
    return { blocks: [{ type: 'tool_use', name, input: JSON.parse(input) as Record<string, unknown> }] }
  if (text.includes('Summarise')) return textReply(`digest: ${text}`)
  return textReply(text.includes('what was said') ? `said: ${JSON.stringify(request.messages)}` : 'fine')
}

/** In the group a turn about the mark is held; its message is to be forgotten once it has ended. */
async function forgettingWhileRunning(beforeForgetting: (world: World) => void = () => {}) {
  const gate = createGate()
  const clock = setClock('2026-11-01T08:00:00Z')
  const script: Script = (request, no) => {
    const text = lastUserText(request)
    if (isCheckpoint(request)) return textReply('done')
    if (!text.includes('slowly') || text.includes('call')) return obeying(request, no)
    return { ...textReply(`it is ${MARK}`), holds: [{ beforeDelta: 0, gate }] }
  }
  const digest = {
    id: toScheduleId('morning'),
    definition: {
      ...{ cron: '0 9 * * *', timezone: 'Etc/UTC', prompt: 'Summarise the group.', missed: { kind: 'once' as const } },
      ...{ overlap: 'skip' as const, digestOf: parseAddress(KEY), deliverTo: parseAddress('telegram:direct:111') },
    },
  }
  const checkpoint = { turns: 100, quietGroupMessages: 3, idleMinutes: 1_000 }
  const session = { queue: { max: 100, busy: 'queue' }, checkpoint } as const
  const house = await forgettingHouse({ script, clock, schedules: () => [digest], config: { session } })
  const { world, say } = house
  world.addChat({ type: 'supergroup', title: 'Family', id: GROUP, members: [111, 444] })
  await say('hello')
  await say('the bin goes out', { chat: GROUP })
  world.say({ from: 444, chat: GROUP, text: `@parley_bot slowly, it is ${MARK}` })
  await gate.reached
  beforeForgetting(world)
  expect(await say('/forget last', { from: 444, chat: GROUP })).toMatch(/^Nothing is removed yet/)
  return { ...house, gate, clock }
}

it.each([
  ['sessions_history', { sessionKey: KEY }],
  ['session_search', { query: 'slowly' }],
  ['sessions_list', { messageLimit: 5 }],
])('S41: %s shows nothing of what goes once its turn has ended', async (name, input) => {
  const { home, ledger, gate, say, prompts } = await forgettingWhileRunning()
  const answer = await say(`call ${name} ${JSON.stringify(input)}`)
  expect(answer).toMatch(/^result: /)
  expect(answer).not.toContain('meanwhile')
  if (name !== 'session_search') expect(answer).toContain('the bin goes out')
  const after = ledger.mark()
  gate.release()
  await ledger.nextFromBot('sent', { after, where: ({ chatId }) => chatId === GROUP })
  await expect.poll(() => holding(home.dataDir, MARK)).toEqual([])
  expect(prompts().filter((prompt) => prompt.includes(MARK))).toHaveLength(1)
})

it('S41: a digest has nothing of what goes once its turn has ended', async () => {
  const { home, ledger, gate, clock } = await forgettingWhileRunning()
  let after = ledger.mark()
  clock.set('2026-11-01T09:00:10Z')
  const { text } = await ledger.nextFromBot('sent', { after, where: ({ text }) => text.startsWith('digest: ') })
  expect(text).toContain('the bin goes out')
  expect(text).not.toContain(MARK)
  after = ledger.mark()
  gate.release()
  await ledger.nextFromBot('sent', { after, where: ({ chatId }) => chatId === GROUP })
  await expect.poll(() => holding(home.dataDir, MARK)).toEqual([])
})

it('S41: the next turn is shown nothing of the one before, whose words are being forgotten', async () => {
  const { home, ledger, gate, prompts } = await forgettingWhileRunning((world) =>
    world.say({ from: 111, chat: GROUP, text: '@parley_bot what was said?' }),
  )
  const after = ledger.mark()
  gate.release()
  const { text } = await ledger.nextFromBot('sent', { after, where: ({ text }) => text.startsWith('said: ') })
  expect(text).toContain('the bin goes out')
  expect(text).not.toContain(MARK)
  await expect.poll(() => holding(home.dataDir, MARK)).toEqual([])
  expect(prompts().at(-1)).not.toContain(MARK)
})

it('S41: a checkpoint looks through nothing of what goes once its turn has ended', async () => {
  const { home, world, ledger, gate } = await forgettingWhileRunning()
  for (const n of [1, 2, 3]) world.say({ from: 444, chat: GROUP, text: `quiet ${n}` })
  const looked = () => (home.anthropic?.ledger.requests() ?? []).filter(isCheckpoint).map((one) => JSON.stringify(one))
  await expect.poll(() => looked().find((text) => text.includes('quiet 3')), { timeout: 30_000 }).toBeDefined()
  expect(looked().join()).toContain('the bin goes out')
  expect(looked().join()).not.toContain(MARK)
  const after = ledger.mark()
  gate.release()
  await ledger.nextFromBot('sent', { after, where: ({ chatId }) => chatId === GROUP })
  await expect.poll(() => holding(home.dataDir, MARK)).toEqual([])
})

it('S41: the next turn is shown nothing of one before that others have joined, either', async () => {
  const [gate, second] = [createGate(), createGate()]
  const script: Script = (request) => {
    const text = lastUserText(request)
    if (text.includes('what was said')) return textReply(`said: ${JSON.stringify(request.messages)}`)
    if (toolResult(request) !== undefined || text.includes('joins'))
      return { ...textReply(`it is ${MARK}`), holds: [{ beforeDelta: 0, gate: second }] }
    if (text.includes('slowly'))
      return { blocks: [{ type: 'tool_use', name: 'sessions_list', input: {} }], holds: [{ beforeDelta: 0, gate }] }
    return textReply('fine')
  }
  const session = { queue: { max: 100, busy: 'steer' } } as const
  const { home, world, ledger, say } = await forgettingHouse({ script, config: { session } })
  world.addChat({ type: 'supergroup', title: 'Family', id: GROUP, members: [111, 444] })
  await say('the bin goes out', { chat: GROUP })
  world.say({ from: 444, chat: GROUP, text: `@parley_bot slowly, it is ${MARK}` })
  await gate.reached
  expect(await say('/forget last', { from: 444, chat: GROUP })).toMatch(/^Nothing is removed yet/)
  world.say({ from: 111, chat: GROUP, text: '@parley_bot joins' })
  expect(await say('/whoami', { chat: GROUP })).toContain('ada')
  gate.release()
  await second.reached
  world.say({ from: 111, chat: GROUP, text: '@parley_bot what was said?' })
  expect(await say('/whoami', { chat: GROUP })).toContain('ada')
  const after = ledger.mark()
  second.release()
  const { text } = await ledger.nextFromBot('sent', { after, where: ({ text }) => text.startsWith('said: ') })
  expect(text).not.toContain(MARK)
  await expect.poll(() => holding(home.dataDir, MARK)).toEqual([])
})

it('S41: what is being forgotten is not answered once more while its answer waits to be sent', async () => {
  const { home, world, ledger, gate, prompts } = await forgettingWhileRunning()
  const body = { ok: false, error_code: 429, description: 'Too Many Requests', parameters: { retry_after: 4 } }
  const full = home.telegram.faults.add({
    method: 'sendMessage',
    where: ({ params }) => String(params.text).includes(MARK),
    action: { kind: 'answer', when: 'before', status: 429, body },
  })
  const after = ledger.mark()
  gate.release()
  await full.reached
  const asked = prompts().length
  world.say({ from: 444, chat: GROUP, text: '/retry' })
  const isRefusal = ({ text }: { readonly text: string }) => text.startsWith('The last exchange here is not yours')
  await ledger.nextFromBot('sent', { after, where: isRefusal })
  await expect.poll(() => holding(home.dataDir, MARK)).toEqual([])
  expect(prompts()).toHaveLength(asked)
})

it('S41: nobody is shown a memory that such a turn has made before, in whatever words', async () => {
  const gate = createGate()
  const script: Script = (request, no) => {
    if (!JSON.stringify(request.messages.slice(-3)).includes('note that')) return obeying(request, no)
    const input = { text: 'Bob keeps a green stone.' }
    return toolResult(request) === undefined
      ? { blocks: [{ type: 'tool_use', name: 'memory_save', input }] }
      : { ...textReply('noted'), holds: [{ beforeDelta: 0, gate }] }
  }
  const { home, world, ledger, say, exchange } = await forgettingHouse({ script })
  world.addChat({ type: 'supergroup', title: 'Family', id: GROUP, members: [111, 444] })
  const { id } = await exchange('the emerald is in my safe', { from: 444, chat: GROUP })
  world.say({ from: 111, chat: GROUP, text: '@parley_bot note that' })
  await gate.reached
  expect(await home.daemon.operator.memory.list({})).toMatchObject([{ text: 'Bob keeps a green stone.' }])
  expect(await say('/forget', { from: 444, chat: GROUP, replyTo: id })).toContain(
    'I am still answering something there',
  )
  expect(await say('/memory', { chat: GROUP })).toBe('I remember nothing here yet.')
  expect(await say('call memory_search {"query":"stone"}')).not.toContain('green stone')
  const after = ledger.mark()
  gate.release()
  await ledger.nextFromBot('sent', { after, where: ({ chatId }) => chatId === GROUP })
  await expect.poll(() => holding(home.dataDir, 'green stone')).toEqual([])
})
