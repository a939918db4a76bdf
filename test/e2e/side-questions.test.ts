import { describe, expect, it } from 'vitest'
import { toAgentId } from '../../src/core/ids.ts'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { createGate } from '../../src/rehearsal/deferred.ts'
import { type Household, startHousehold } from './household.ts'

const script: Script = (request) => textReply(`answer to ${lastUserText(request).split('\n').at(-1)}`)
const agents = [{ id: toAgentId('main'), model: 'anthropic/rehearsal', prompt: 'Be brief.', tools: ['time'] }]

async function household(more: Parameters<typeof startHousehold>[0] = {}) {
  return startHousehold({ script, streaming: false, config: { agents }, ...more })
}

async function say({ telegram }: Pick<Household, 'telegram'>, text: string, from = 111): Promise<string> {
  const mark = telegram.ledger.mark()
  telegram.world.say({ from, text })
  return (await telegram.ledger.nextFromBot('sent', { after: mark })).text
}

async function eventsOf({ daemon }: Pick<Household, 'daemon'>) {
  const [session] = (await daemon.operator.sessions.list({ limit: 1, offset: 0, inactive: false })).sessions
  return (await daemon.operator.sessions.history(session?.id ?? '', { limit: 200 })).events
}

async function deleteSession({ daemon }: Pick<Household, 'daemon'>): Promise<void> {
  const { sessions } = daemon.operator
  const [session] = (await sessions.list({ limit: 1, offset: 0, inactive: false })).sessions
  await sessions.delete(session?.id ?? '')
}

describe('a question beside the conversation', () => {
  it('K41: is answered from it, without tools, and leaves nothing in it', async () => {
    const home = await household()
    await say(home, 'the code is 4711')
    const before = await eventsOf(home)
    expect(await say(home, '/side which code?')).toBe('answer to which code?')
    expect(await eventsOf(home)).toEqual(before)
    const asked = home.anthropic?.ledger.requests().at(-1)
    expect(asked).not.toHaveProperty('tools')
    expect(JSON.stringify(asked?.messages)).toContain('the code is 4711')

    await say(home, 'and now?')
    const next = JSON.stringify(home.anthropic?.ledger.requests().at(-1)?.messages)
    expect(next).toContain('the code is 4711')
    expect(next).not.toContain('which code?')
  })

  it.each([
    ['an exchange was taken back', (home: Household) => say(home, '/undo')],
    ['the conversation was deleted', deleteSession],
  ] as const)('S41: is not answered if %s meanwhile', async (_what, remove) => {
    const gate = createGate()
    const held: Script = (request, turn) =>
      lastUserText(request).includes('which code?')
        ? textReply('it is 4711', { holds: [{ beforeDelta: 0, gate }] })
        : script(request, turn)
    const home = await household({ script: held })
    await say(home, 'the code is 4711')
    home.telegram.world.say({ from: 111, text: '/side which code?' })
    await gate.reached
    await remove(home)
    const said = home.telegram.ledger.mark()
    gate.release()
    expect((await home.telegram.ledger.nextFromBot('sent', { after: said })).text).toMatch(
      /^What was said here was forg/,
    )
  })

  it('K44: has at most fifty messages, the newest', async () => {
    const home = await household()
    for (let n = 1; n <= 26; n++) await say(home, `question ${n}`)
    await say(home, '/side how many?')
    const { messages = [] } = home.anthropic?.ledger.requests().at(-1) ?? {}
    expect(messages).toHaveLength(49)
    expect(messages.map(({ role }) => role).slice(0, 2)).toEqual(['user', 'assistant'])
    expect(JSON.stringify(messages[0])).toContain('question 3')
  })

  it('says what is missing, what the model fails with, and whom it is not for', async () => {
    const refused: Script = (request, turn) =>
      lastUserText(request).includes('fail')
        ? { error: { status: 400, type: 'invalid_request_error' } }
        : script(request, turn)
    const home = await household({ script: refused, routing: { access: { direct: 'public', groups: [] } } })
    expect(await say(home, '/side')).toBe('Say /side <question>.')
    expect(await say(home, '/side what?')).toMatch(/^There is nothing to ask about yet/)
    await say(home, 'hello')
    expect(await say(home, '/side fail')).toMatch(/^I could not answer that: the model provider rejected the request/)
    await say(home, 'hello', 555)
    expect(await say(home, '/side what?', 555)).toBe('Only people whom my owner knows may do that.')
    expect(await say(home, '/compact', 555)).toBe('Only people whom my owner knows may do that.')
  })

  it('T31: is not answered where the session may say nothing', async () => {
    const home = await household()
    await say(home, 'hello')
    await say(home, '/send off')
    const asked = home.anthropic?.ledger.requests().length
    expect(await say(home, '/side what?')).toMatch(/^I say nothing here now/)
    expect(home.anthropic?.ledger.requests()).toHaveLength(asked ?? 0)
  })

  it('T31: is not answered for a person whom the send policy denies', async () => {
    const sendPolicy = { rules: [{ match: { person: 'ada' }, action: 'deny' as const }], default: 'allow' as const }
    const home = await household({ routing: { sendPolicy } })
    await home.daemon.operator.sessions.list({ limit: 1, offset: 0, inactive: false })
    home.telegram.world.say({ from: 111, text: 'hello' })
    expect(await say(home, '/side what?')).toMatch(/^I say nothing here now/)
    expect(home.anthropic?.ledger.requests()).toEqual([])
  })
})
