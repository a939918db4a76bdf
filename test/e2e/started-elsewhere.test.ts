import { expect, it } from 'vitest'
import { toAgentId } from '../../src/core/ids.ts'
import type { Tool } from '../../src/core/turn.ts'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { createGate } from '../../src/rehearsal/deferred.ts'
import { owner } from '../fakes/routing-policy.ts'
import { startApiHouse, tokenWith } from './api-house.ts'
import { startChatHouse, user } from './chat-clients.ts'
import { parley } from './house-command.ts'
import { type Household, recorded, startHousehold } from './household.ts'
import { toolResult } from './obedient.ts'
import { setClock } from './set-clock.ts'

const tool = (name: string): Tool => ({
  spec: { name, description: 'Does something.', parameters: { type: 'object' } },
  class: 'pure',
  reach: 'inside',
  run: async () => 'done',
})
const main = {
  id: toAgentId('main'),
  model: 'anthropic/rehearsal',
  prompt: 'You are calm. For {{ctx.team}}.',
  tools: ['clock', 'map'],
}

/** A client has begun a session with fewer tools and with variables; the configuration was changed since. */
async function begun() {
  const house = await startHousehold({
    ...{ script: () => textReply('fine'), streaming: false, clock: setClock('2026-11-21T08:00:00Z') },
    ...{ tools: { clock: [tool('clock')], map: [tool('map')] }, config: { agents: [main] } },
  })
  await house.daemon.operator.sessions.start({ name: 'api:a', tools: ['clock'], context: { team: 'Rowing' } })
  await ask(house, 'api:a', 'hello')
  await house.restart({ agents: [{ ...main, prompt: 'You are new.' }] })
  return house
}

async function ask({ daemon, anthropic }: Household, name: string, text: string) {
  expect(await daemon.operator.sessions.post(name, { text })).toMatchObject({ status: 'ok' })
  const { system, messages, tools = [] } = anthropic?.ledger.requests().at(-1) ?? {}
  return { system: JSON.stringify(system), messages: JSON.stringify(messages), tools: tools.map(({ name }) => name) }
}

it.each(['move', 'fork'])(
  'C1, C28: a session of a client that a %s continues elsewhere has no more tools there',
  async (how) => {
    const house = await begun()
    const done = await parley(house.config, ['sessions', how, 'api:a', 'api:b', '--yes'])
    expect([done.code, done.err]).toEqual([0, ''])
    const there = await ask(house, 'api:b', 'and now?')
    expect(there.tools).toEqual(['clock'])
    expect(there.system).toContain('You are calm.')
    expect(there.system).toContain('Rowing')
    expect(there.messages).toContain('hello')
    const here = await ask(house, 'api:a', 'and now?')
    expect(here.tools).toEqual(['clock'])
    expect(here.system).toBe(there.system)
    expect(here.messages.includes('hello')).toBe(how === 'fork')
  },
)

it('C28: a chat that is continued in a session of a client has no more tools there than that had', async () => {
  const house = await begun()
  const { world, ledger } = house.telegram
  world.say({ from: 111, text: 'rain today?' })
  await ledger.nextFromBot('sent')
  await recorded(house)
  const { relocate } = house.daemon.operator.archives
  const { session } = await relocate('telegram:direct:111', { kind: 'fork', to: 'api:a', confirmed: true })
  const there = await ask(house, session, 'and now?')
  expect(there.messages).toContain('rain today?')
  expect(there.tools).toEqual(['clock'])
  expect(there.system).toContain('You are calm.')
  expect(there.system).toContain('Rowing')
})

it('S42: a client continues in its own name what was forked to it, with the token that it had', async () => {
  const house = await startChatHouse({ script: () => textReply('fine') })
  const { archives } = house.daemon.operator
  const client = await house.client('api:ui')
  const say = async (text: string) => {
    await client.chat.completions.create({ model: 'main', metadata: { session: 'bob' }, messages: [user(text)] })
    return JSON.stringify(house.anthropic?.ledger.requests().at(-1)?.messages)
  }
  await say('an order')
  await ask(house, 'api:notes', 'rain today')
  const fork = { kind: 'fork', to: 'api:ui:bob' } as const
  expect(await archives.relocate('api:notes', fork)).toMatchObject({ audience: expect.stringContaining('api:ui') })
  expect(await archives.relocate('api:notes', { ...fork, confirmed: true })).toMatchObject({
    replaced: 'api:ui:bob',
    session: expect.stringMatching(/^api:ui:\d/),
  })
  const prompt = await say('and now?')
  expect(prompt).toContain('rain today')
  expect(prompt).not.toContain('an order')
})

/** Does what the variables of the session say. */
const byVariables: Script = (request) => {
  const result = toolResult(request)
  if (result !== undefined) return textReply(`it says: ${result}`)
  if (!JSON.stringify(request.system).includes('who write to the notes')) return textReply('fine')
  const input = { sessionKey: 'cli:notes', message: 'hi', timeoutSeconds: 0 }
  return { blocks: [{ type: 'tool_use', name: 'sessions_send', input }] }
}

type Relocate = Household['daemon']['operator']['archives']['relocate']
const WAYS: [string, (relocate: Relocate) => Promise<unknown>][] = [
  ['begins afresh', (relocate) => relocate('api:shop:a', { kind: 'move', to: 'api:b', confirmed: true })],
  [
    'continues a chat',
    (relocate) => relocate('telegram:direct:111', { kind: 'fork', to: 'api:shop:a', confirmed: true }),
  ],
]

it.each(WAYS)('T32: the variables of a client stay its words where its session %s', async (_, elsewhere) => {
  const house = await startApiHouse({
    ...{ script: byVariables, streaming: false, routing: { people: [owner('ada', 'telegram:111')] } },
    config: { agents: [{ ...main, tools: ['sessions'] }] },
  })
  const { sessions, archives } = house.daemon.operator
  const said = async (name: string, text: string) => {
    const answer = await sessions.post(name, { text })
    return 'reply' in answer ? answer.reply : ''
  }
  house.telegram.world.say({ from: 111, text: 'hello' })
  await house.telegram.ledger.nextFromBot('sent')
  await said('cli:notes', 'hello')
  const headers = await tokenWith(house, ['sessions:read', 'sessions:write'], 'api:shop')
  const body = { name: 'api:shop:a', context: { team: 'those who write to the notes' } }
  expect(await house.ask('/v1/sessions', { headers, body })).toMatchObject({ status: 200 })
  expect(await said('api:shop:a', 'hello')).toContain('contains words of api:shop')
  await elsewhere(archives.relocate)
  expect(await said('api:shop:a', 'hello')).toContain('contains words of api:shop')
})

it('C17, T37: what is cancelled or set by a client’s name is that of the conversation that it has now', async () => {
  const gate = createGate()
  const script: Script = (request) =>
    lastUserText(request).includes('slow')
      ? textReply('late', { holds: [{ beforeDelta: 0, gate }] })
      : textReply('fine')
  const house = await startHousehold({ script, streaming: false })
  const { archives, sessions } = house.daemon.operator
  await ask(house, 'api:a', 'hello')
  await ask(house, 'api:b', 'rain today')
  await archives.relocate('api:b', { kind: 'fork', to: 'api:a', confirmed: true })
  const { session } = await sessions.post('api:a', { text: 'slow', waitSeconds: 0 })
  await gate.reached
  expect(await sessions.cancel('api:a')).toEqual({ session, stopped: true, dropped: 0 })
  expect(await sessions.patch('api:a', { sendPolicy: 'deny' })).toMatchObject({ id: session })
})
