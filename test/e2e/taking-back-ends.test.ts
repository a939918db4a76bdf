import { describe, expect, it } from 'vitest'
import { toAgentId } from '../../src/core/ids.ts'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { createGate } from '../../src/rehearsal/deferred.ts'
import { startHousehold } from './household.ts'
import { toolResult } from './obedient.ts'

const UNDONE = 'Taken back: the last message and my answer to it. I know neither any more.'

/** Calls the tool that the last words name, with what stands behind its name; else it answers with them. */
const obedient =
  (gate: ReturnType<typeof createGate>): Script =>
  (request) => {
    const said = lastUserText(request).split('\n').at(-1) ?? ''
    const [, name, input] = /(sessions_send|current_time) (\{.*\})/.exec(said) ?? []
    const answer = textReply(`heard ${said}`)
    if (said.endsWith('slow')) return { ...answer, holds: [{ beforeDelta: 0, gate }] }
    return name === undefined || toolResult(request) !== undefined
      ? answer
      : { blocks: [{ type: 'tool_use', name, input: JSON.parse(input ?? '{}') }] }
  }

async function household(gate = createGate()) {
  const tools = ['time', 'sessions']
  const agents = [{ id: toAgentId('main'), model: 'anthropic/rehearsal', prompt: 'Obey.', tools }]
  const house = await startHousehold({ script: obedient(gate), streaming: false, config: { agents } })
  const { world, ledger } = house.telegram
  const { id: group } = world.addChat({ type: 'supergroup', title: 'Family', members: [111, 444] })
  const say = async (said: Parameters<typeof world.say>[0]): Promise<string> => {
    const after = ledger.mark()
    world.say(said)
    return (await ledger.nextFromBot('sent', { after })).text
  }
  const prompt = (): string => JSON.stringify(house.anthropic?.ledger.requests().at(-1)?.messages)
  return { group, say, prompt, world, ledger }
}

describe('what /undo names as not taken back', () => {
  it.each([
    ['no tool that changes nothing', 'current_time {}'],
    ['no message that was refused', 'sessions_send {"sessionKey":"telegram:direct:999","message":"hi"}'],
  ])('is %s', async (_, words) => {
    const { say } = await household()
    expect(await say({ from: 111, text: words })).toContain('heard')
    expect(await say({ from: 111, text: '/undo' })).toBe(UNDONE)
  })
})

describe('the last exchange', () => {
  it('is none that was forgotten: /undo takes the one before it back', async () => {
    const { say, prompt } = await household()
    await say({ from: 111, text: 'one' })
    await say({ from: 111, text: 'two' })
    await say({ from: 111, text: '/forget last' })
    expect(await say({ from: 111, text: '/undo' })).toBe(UNDONE)
    expect(await say({ from: 111, text: '/undo' })).toBe('There is nothing to take back here.')
    await say({ from: 111, text: 'three' })
    expect(prompt()).not.toContain('one')
  })

  it('of somebody whom the platform does not name is for the owner: another may write under the same name', async () => {
    const { say, group } = await household()
    const hidden = { from: 444, chat: group, senderChat: group } as const
    expect(await say({ ...hidden, text: '@parley_bot hello' })).toContain('hello')
    expect(await say({ ...hidden, text: '/undo@parley_bot' })).not.toBe(UNDONE)
    expect(await say({ from: 111, chat: group, text: '/undo' })).toBe(UNDONE)
  })

  it('in which the owner and a member have asked together is the owner’s to take back and to have answered again', async () => {
    const gate = createGate()
    const { group, say, prompt, world, ledger } = await household(gate)
    world.say({ from: 111, chat: group, text: '@parley_bot slow' })
    await gate.reached
    const after = ledger.mark()
    world.say({ from: 111, chat: group, text: '@parley_bot the door code?' })
    const last = world.say({ from: 444, chat: group, text: '@parley_bot and mine?' })
    await ledger.confirmed(ledger.updateIdOf(last))
    gate.release()
    await ledger.nextFromBot('sent', { after, where: ({ text }) => text.includes('and mine?') })
    for (const command of ['/undo', '/retry'])
      expect(await say({ from: 444, chat: group, text: command })).toContain('not yours alone')
    expect(await say({ from: 111, chat: group, text: '/undo' })).toBe(UNDONE)
    await say({ from: 444, chat: group, text: '@parley_bot now?' })
    expect(prompt()).not.toContain('the door code?')
  })
})
