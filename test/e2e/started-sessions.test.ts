import { describe, expect, it } from 'vitest'
import type { AgentProfile } from '../../src/core/agent-profile.ts'
import { toAgentId } from '../../src/core/ids.ts'
import type { StartRequest } from '../../src/core/operate-sessions.ts'
import type { RoutingPolicy } from '../../src/core/policy.ts'
import type { Tool } from '../../src/core/turn.ts'
import { type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { agents } from '../fakes/routing-policy.ts'
import { type Household, type HouseholdOptions, recorded, startHousehold } from './household.ts'

const tool = (name: string): Tool => ({
  spec: { name, description: 'Does something.', parameters: { type: 'object' } },
  class: 'pure',
  reach: 'inside',
  run: async () => 'done',
})
const tools = { clock: [tool('clock')], map: [tool('map')] } as const
const main: AgentProfile = {
  ...{ id: toAgentId('main'), model: 'anthropic/rehearsal', prompt: 'You are calm.', tools: ['clock', 'map'] },
  models: ['anthropic/small', 'anthropic/large', 'anthropic/group'],
}
const other: AgentProfile = { ...main, id: toAgentId('other'), prompt: 'You are the other one.' }

const household = (
  script: Script = () => textReply('fine'),
  routing: Partial<RoutingPolicy> = {},
  has: HouseholdOptions['tools'] = tools,
) =>
  startHousehold({
    ...{ script, tools: has, routing },
    config: { agents: [main, other], workspaces: [{ name: 'research', model: 'anthropic/group' }] },
  })

const start = ({ daemon }: Household, request: StartRequest = {}) => daemon.operator.sessions.start(request)

/** Says something, and returns the request in which the model was asked. */
async function ask(home: Household, name: string, more: { readonly model?: string } = {}) {
  expect(await home.daemon.operator.sessions.post(name, { text: 'hello', ...more })).toMatchObject({ status: 'ok' })
  const request = home.anthropic?.ledger.requests().at(-1)
  if (!request) throw new Error('no model was asked')
  return request
}

async function eventsOf({ daemon }: Household, name: string, type: string) {
  const { events } = await daemon.operator.sessions.history(name, { limit: 200 })
  return events.filter((event) => event.type === type)
}

describe('R10: a session of a chat whose agent is not in the configuration any more', () => {
  const routing = { agents: agents('main', 'other'), dispatch: [{ match: { channel: 'telegram' }, agent: other.id }] }
  const without = ({ config }: Household) => ({
    agents: [main],
    routing: { ...config.routing, agents: agents('main'), dispatch: [] },
  })
  const chatOf = async ({ daemon }: Household) =>
    (await daemon.operator.sessions.list({ limit: 9, offset: 0, inactive: true })).sessions.find(({ key }) =>
      key.endsWith('telegram:direct:111'),
    )?.id ?? ''

  it('takes no text to answer, says what to do, and continues once the agent is back', async () => {
    const home = await household(undefined, routing)
    home.telegram.world.say({ from: 111, text: 'one' })
    await home.telegram.ledger.nextFromBot('sent')
    const chat = await chatOf(home)
    const before = { said: await eventsOf(home, chat, 'user_message'), routing: home.config.routing }
    await home.restart(without(home))
    const asked = home.anthropic?.ledger.requests().length
    await expect(home.daemon.operator.sessions.post(chat, { text: 'two' })).rejects.toMatchObject({
      code: 'agent_gone',
      message:
        'The agent "other" of this session is not in the configuration; there is main. Put it back under agents and start the daemon again, or begin a new session.',
    })
    expect(await eventsOf(home, chat, 'user_message')).toEqual(before.said)
    expect(home.anthropic?.ledger.requests()).toHaveLength(asked ?? 0)
    await home.restart({ agents: [main, other], routing: before.routing })
    expect(JSON.stringify((await ask(home, chat)).system)).toContain('You are the other one.')
    expect(await eventsOf(home, chat, 'session:agent_updated')).toEqual([])
  })

  it('ends a turn that waits for a person before its model, and the chat reads why', async () => {
    const script: Script = () => ({ blocks: [{ type: 'tool_use', name: 'clock', input: {} }] })
    const home = await household(script, routing, { clock: [{ ...tool('clock'), reach: 'beyond' }], map: [] })
    home.telegram.world.say({ from: 111, text: 'one' })
    const card = await home.telegram.ledger.nextFromBot('sent')
    expect(card.text).toContain('May I use')
    await home.restart(without(home))
    const where = ({ text }: { readonly text: string }) => text.startsWith('The agent of this conversation is not in')
    await home.telegram.ledger.nextFromBot('sent', { where })
    expect(home.anthropic?.ledger.requests()).toHaveLength(1)
  })
})

describe('a session that a client starts', () => {
  it('C1: keeps its agent as it was at the start, whatever the configuration says later', async () => {
    const home = await household()
    const { id } = await start(home, { agent: 'other' })
    expect(id).toMatch(/^api:[0-9a-f-]{36}$/)
    expect(await ask(home, id)).toMatchObject({ model: 'rehearsal' })
    await home.restart({ agents: [main, { ...other, prompt: 'You are new.', tools: [], model: 'anthropic/large' }] })
    const { system, model, tools: offered = [] } = await ask(home, id)
    expect(JSON.stringify(system)).toContain('You are the other one.')
    expect(model).toBe('rehearsal')
    expect(offered.map(({ name }) => name)).toEqual(['clock', 'map'])
    expect(await eventsOf(home, id, 'session:agent_updated')).toEqual([])
  })

  it('C1: one that its first text began keeps its agent too', async () => {
    const home = await household()
    await ask(home, 'api:notes')
    await home.restart({ agents: [{ ...main, prompt: 'You are new.' }, other] })
    expect(JSON.stringify((await ask(home, 'api:notes')).system)).toContain('You are calm.')
  })

  it('C1: a chat adopts a changed agent at its next turn, and its record names what changed', async () => {
    const home = await household()
    const say = async (text: string) => {
      const answered = home.telegram.ledger.nextFromBot('sent', {
        after: home.telegram.ledger.mark(),
        where: ({ chatId }) => chatId === 111,
      })
      home.telegram.world.say({ from: 111, text })
      await answered
      await recorded(home)
    }
    await say('one')
    await say('two')
    expect(await eventsOf(home, 'telegram:direct:111', 'session:agent_updated')).toEqual([])
    await home.restart({ agents: [{ ...main, prompt: 'You are new.', tools: ['clock'] }, other] })
    await say('three')
    await say('four')
    expect(await eventsOf(home, 'telegram:direct:111', 'session:agent_updated')).toMatchObject([
      { text: 'changed: prompt, tools' },
    ])
    expect(JSON.stringify(home.anthropic?.ledger.requests().at(-1)?.system)).toContain('You are new.')
  })

  it('C1: keeps its agent where the configuration has none of that name any more', async () => {
    const home = await household()
    const { id } = await start(home, { agent: 'other' })
    await home.restart({ agents: [main] })
    expect(JSON.stringify((await ask(home, id)).system)).toContain('You are the other one.')
  })

  it('C3: a text to one that was not started is refused, and so is a second start', async () => {
    const home = await household()
    await expect(ask(home, '1c5e1a2e-7f3f-4a55-9f0b-000000000000')).rejects.toMatchObject({ code: 'not_found' })
    const { id } = await start(home, { name: 'api:notes' })
    await expect(start(home, { name: id })).rejects.toMatchObject({ code: 'conflict' })
    await ask(home, 'api:more')
    await expect(start(home, { name: 'api:more' })).rejects.toMatchObject({ code: 'conflict' })
    expect(await eventsOf(home, id, 'session:started')).toHaveLength(1)
  })

  it('C3: of two starts at once one is refused', async () => {
    const home = await household()
    const both = await Promise.allSettled([start(home, { name: 'api:a' }), start(home, { name: 'api:a' })])
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  })

  it('C28: may have fewer tools than its agent, and none beside them', async () => {
    const home = await household()
    const { id } = await start(home, { tools: ['map'] })
    expect((await ask(home, id)).tools?.map(({ name }) => name)).toEqual(['map'])
    await expect(start(home, { tools: ['map', 'sessions'] })).rejects.toThrow(
      'main has no tools "sessions", and a session may only have fewer: clock, map.',
    )
    expect((await ask(home, (await start(home, { tools: [] })).id)).tools ?? []).toEqual([])
  })

  it('R11: the model of the text goes before that of session, workspace and agent', async () => {
    const home = await household()
    const { id } = await start(home, { workspace: 'research' })
    expect((await ask(home, id)).model).toBe('group')
    await home.daemon.operator.sessions.patch(id, { model: 'anthropic/small' })
    expect((await ask(home, id)).model).toBe('small')
    expect((await ask(home, id, { model: 'anthropic/large' })).model).toBe('large')
    expect((await ask(home, id)).model).toBe('small')
    const own = await start(home, { workspace: 'research', model: 'anthropic/large' })
    expect((await ask(home, own.id)).model).toBe('large')
    expect((await ask(home, (await start(home, { workspace: 'unknown' })).id)).model).toBe('rehearsal')
  })

  it.each([
    [{ agent: 'nobody' }, 'There is no agent "nobody"; there is main, other.'],
    [{ model: 'anthropic/unknown' }, 'agents[].models lists them'],
    [{ workspace: 'a b' }, 'workspace must be'],
    [{ context: { key: 'sk-ant-api03-not-a-real-key-000' } }, 'looks like a key'],
    [{ name: 'telegram:direct:111' }, 'is called api:<name>, cli:<name> or web:<name>.'],
    [{ name: 'notes' }, 'is called api:<name>, cli:<name> or web:<name>.'],
    [{ name: 'api:direct:x' }, 'reads like the key of a chat'],
  ])('refuses %o and stores nothing', async (request, message) => {
    const home = await household()
    await expect(start(home, request)).rejects.toThrow(message)
    expect((await home.daemon.operator.sessions.list({ limit: 9, offset: 0, inactive: true })).total).toBe(0)
  })

  it('R11: a model that the session may not have is refused with the text, which is not stored', async () => {
    const home = await household()
    const { id } = await start(home)
    await expect(ask(home, id, { model: 'anthropic/unknown' })).rejects.toMatchObject({ code: 'invalid' })
    expect(await eventsOf(home, id, 'user_message')).toEqual([])
  })
})
