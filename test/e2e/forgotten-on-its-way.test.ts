import { expect, it } from 'vitest'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { createGate } from '../../src/rehearsal/deferred.ts'
import { forgettingHouse, holding } from './forgetting-house.ts'
import { toolResult } from './obedient.ts'

const MARK = 'zq9canary-4711'
const GROUP = -1001234567890
const KEY = `telegram:group:${GROUP}`

/**
 * In private the agent asks the group's session, and has the answer posted there. That turn has ended, and the platform
 * has not taken its answer yet: what it said is not emptied before.
 */
it('S41: an answer of another conversation whose words wait for its sending to be forgotten stays nowhere', async () => {
  const gate = createGate()
  const script: Script = (request) => {
    const result = toolResult(request)
    if (result !== undefined) return textReply(`result: ${result.includes(MARK) ? MARK : result}`)
    const text = lastUserText(request)
    if (text.includes('begin')) {
      const input = { sessionKey: KEY, message: 'what is it?', announce: true, timeoutSeconds: 60 }
      return { blocks: [{ type: 'tool_use', name: 'sessions_send', input }] }
    }
    if (text.includes('what is it?')) return { ...textReply(`it is ${MARK}`), holds: [{ beforeDelta: 0, gate }] }
    return textReply('fine')
  }
  const { home, world, ledger, say, prompts } = await forgettingHouse({ script })
  world.addChat({ type: 'supergroup', title: 'Family', id: GROUP, members: [111, 444] })
  await say(`it is ${MARK}`, { from: 444, chat: GROUP })
  world.say({ from: 111, text: 'begin' })
  await gate.reached
  await say('/forget last', { from: 444, chat: GROUP })
  const held = home.telegram.faults.add({
    method: 'sendMessage',
    where: ({ params }) => String(params.text).includes(MARK),
    action: { kind: 'hold', when: 'before' },
  })
  const after = ledger.mark()
  gate.release()
  await held.reached
  const { text } = await ledger.nextFromBot('sent', { after, where: ({ chatId }) => chatId === 111 })
  held.release()
  expect(text).toContain('forgotten, deleted or taken back meanwhile')
  expect(prompts().at(-1)).not.toContain(MARK)
  await expect.poll(() => holding(home.dataDir, MARK)).toEqual([])
})
