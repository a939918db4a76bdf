import { expect, it } from 'vitest'
import { toAgentId } from '../../src/core/ids.ts'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { forgettingHouse, holding } from './forgetting-house.ts'
import { recorded } from './household.ts'
import { toolResult } from './obedient.ts'

const CAPTION = 'zq cap'

/** Sends a file with a caption, which the platform refuses. */
const script: Script = (request) => {
  if (toolResult(request) !== undefined) return textReply('There it is.')
  if (!lastUserText(request).includes('write')) return textReply('fine')
  return {
    blocks: [{ type: 'tool_use', name: 'send_file', input: { name: 'a.txt', text: 'inside', caption: CAPTION } }],
  }
}

it.each(['/forget last', '/forget me yes'])(
  'S41: the record that a file did not arrive goes with the words that it was sent for: %s',
  async (request) => {
    const agents = [{ id: toAgentId('main'), model: 'anthropic/claude-haiku-4-5', prompt: 'Talk.', tools: ['files'] }]
    const { home, world, ledger, say, rows, addGroup } = await forgettingHouse({ script, config: { agents } })
    const chat = addGroup('Family')
    await say('hello', { chat })
    const body = { ok: false, error_code: 400, description: 'Bad Request: not enough rights' }
    const refused = home.telegram.faults.add({
      method: 'sendDocument',
      action: { kind: 'answer', when: 'before', status: 400, body },
    })
    const after = ledger.mark()
    world.say({ from: 444, chat, text: '@parley_bot write it down' })
    await refused.reached
    await ledger.nextFromBot('sent', { after, where: ({ text }) => text.includes('There it is') })
    await recorded(home)
    await expect.poll(() => rows("SELECT data FROM events WHERE type = 'delivery_failed'")).toContain(CAPTION)
    expect(await say(request, { from: 444, chat })).toMatch(/^Forgotten/)
    await expect.poll(() => holding(home.dataDir, CAPTION)).toEqual([])
  },
)
