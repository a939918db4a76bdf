import { expect, it } from 'vitest'
import { parseAddress } from '../../src/core/address.ts'
import { toScheduleId } from '../../src/core/ids.ts'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { createGate } from '../../src/rehearsal/deferred.ts'
import { forgettingHouse, holding } from './forgetting-house.ts'
import { toolResult } from './obedient.ts'
import { setClock } from './set-clock.ts'

const MARK = 'zq9canary-4711'
const GROUP = -1001234567890
const KEY = `telegram:group:${GROUP}`

/** In the group a turn about the mark is held; its message is to be forgotten once it has ended. */
async function forgettingWhileRunning() {
  const gate = createGate()
  const clock = setClock('2026-11-01T08:00:00Z')
  const script: Script = (request) => {
    const result = toolResult(request)
    if (result !== undefined) return textReply(`result: ${result}`)
    const text = lastUserText(request)
    if (text.includes('Summarise')) return textReply(`digest: ${text}`)
    const [, name, input] = /call (\w+) (\{.*\})/.exec(text) ?? []
    if (name !== undefined && input !== undefined)
      return { blocks: [{ type: 'tool_use', name, input: JSON.parse(input) as Record<string, unknown> }] }
    if (text.includes('slowly')) return { ...textReply(`it is ${MARK}`), holds: [{ beforeDelta: 0, gate }] }
    return textReply('fine')
  }
  const digest = {
    id: toScheduleId('morning'),
    definition: {
      ...{ cron: '0 9 * * *', timezone: 'Etc/UTC', prompt: 'Summarise the group.', missed: { kind: 'once' as const } },
      ...{ overlap: 'skip' as const, digestOf: parseAddress(KEY), deliverTo: parseAddress('telegram:direct:111') },
    },
  }
  const house = await forgettingHouse({ script, clock, schedules: () => [digest] })
  const { world, say } = house
  world.addChat({ type: 'supergroup', title: 'Family', id: GROUP, members: [111, 444] })
  await say('hello')
  await say('the bin goes out', { chat: GROUP })
  world.say({ from: 444, chat: GROUP, text: `@parley_bot slowly, it is ${MARK}` })
  await gate.reached
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
  await expect.poll(() => holding(home.dataDir, MARK), { timeout: 30_000 }).toEqual([])
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
  await expect.poll(() => holding(home.dataDir, MARK), { timeout: 30_000 }).toEqual([])
})
