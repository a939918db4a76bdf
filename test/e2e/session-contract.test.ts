import { describe, expect, it } from 'vitest'
import { parseAddress } from '../../src/core/address.ts'
import { toAgentId, toScheduleId } from '../../src/core/ids.ts'
import type { Tool } from '../../src/core/turn.ts'
import { type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { createGate } from '../../src/rehearsal/deferred.ts'
import { type Household, startHousehold } from './household.ts'
import { slowStart } from './slow-start.ts'

const clock: Tool = {
  spec: { name: 'clock', description: 'Tells the time.', parameters: { type: 'object' } },
  class: 'pure',
  reach: 'inside',
  run: async () => 'three',
}
const agents = [{ id: toAgentId('main'), model: 'anthropic/rehearsal', prompt: '', tools: ['clock'] }]

/** Uses the tool once where somebody asks for the time. */
const script: Script = ({ messages }) =>
  JSON.stringify(messages.at(-1)).includes('what time')
    ? { blocks: [{ type: 'tool_use', name: 'clock', input: {} }] }
    : textReply('fine')

const household = () => startHousehold({ script, tools: { clock: [clock] }, config: { agents } })

async function eventsOf({ daemon }: Pick<Household, 'daemon'>, name: string) {
  return (await daemon.operator.sessions.history(name, { limit: 200 })).events
}

describe('a session of a client', () => {
  it('C2: begins with its first text: a row, its id in the answer, and one event of the start', async () => {
    const home = await household()
    const answer = await home.daemon.operator.sessions.post('cli:notes', { text: 'hello' })
    await home.daemon.operator.sessions.post('cli:notes', { text: 'again' })
    expect(answer).toMatchObject({ session: 'cli:notes', status: 'ok', reply: 'fine' })
    const started = (await eventsOf(home, 'cli:notes')).filter(({ type }) => type === 'session:started')
    expect(started).toMatchObject([{ seq: 1 }])
  })

  it('C18: is resumed after a start with its completed turns, and does not begin again', async () => {
    const home = await household()
    await home.daemon.operator.sessions.post('cli:notes', { text: 'the code is 4711' })
    const daemon = await home.restart()
    await daemon.operator.sessions.post('cli:notes', { text: 'which code?' })
    const { messages = [] } = home.anthropic?.ledger.requests().at(-1) ?? {}
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user'])
    expect(JSON.stringify(messages[0])).toContain('the code is 4711')
    const types = (await eventsOf({ daemon }, 'cli:notes')).map(({ type }) => type)
    expect(types.filter((type) => type === 'session:started')).toHaveLength(1)
  })

  it('C21: a turn with tools, stored as several rows, counts once', async () => {
    const home = await household()
    await home.daemon.operator.sessions.post('cli:notes', { text: 'what time is it?' })
    const types = (await eventsOf(home, 'cli:notes')).map(({ type }) => type)
    expect(types).toEqual(expect.arrayContaining(['assistant_step', 'tool_call', 'tool_result', 'assistant_message']))
    expect(await home.daemon.operator.sessions.show('cli:notes')).toMatchObject({ turns: 1, messages: 2 })
  })

  it('C14: is shown so many messages of earlier turns, silently, and the log keeps the others', async () => {
    const session = { queue: { max: 9, busy: 'queue' }, maxMessages: 6 } as const
    const home = await startHousehold({ script, tools: { clock: [clock] }, config: { agents, session } })
    for (const n of [1, 2, 3, 4, 5]) await home.daemon.operator.sessions.post('cli:notes', { text: `question ${n}` })
    const shown = () => home.anthropic?.ledger.requests().map(({ messages }) => messages.length)
    expect(shown()).toEqual([1, 3, 5, 7, 7])
    const last = JSON.stringify(home.anthropic?.ledger.requests().at(-1)?.messages)
    expect(last.match(/question \d/g)).toEqual(['question 2', 'question 3', 'question 4', 'question 5'])
    const types = (await eventsOf(home, 'cli:notes')).map(({ type }) => type)
    expect(types.filter((type) => type === 'user_message')).toHaveLength(5)
    expect(types).not.toContain('history_boundary')
    expect(await home.daemon.operator.sessions.show('cli:notes')).toMatchObject({ turns: 5 })
  })

  it('R37: a step has its calls, model and usage in history and after a start', async () => {
    const home = await household()
    await home.daemon.operator.sessions.post('cli:notes', { text: 'what time is it?' })
    const [request] = home.anthropic?.ledger.requests() ?? []
    const step = {
      ...{ type: 'assistant_step', model: 'anthropic/rehearsal', calls: [{ tool: 'clock', arguments: '{}' }] },
      usage: { input: expect.any(Number), output: expect.any(Number) },
    }
    const before = (await eventsOf(home, 'cli:notes')).filter(({ type }) => type === 'assistant_step')
    expect([request?.model, before]).toMatchObject(['rehearsal', [step]])
    expect(before[0]?.usage?.input).toBeGreaterThan(0)
    const daemon = await home.restart()
    expect((await eventsOf({ daemon }, 'cli:notes')).filter(({ type }) => type === 'assistant_step')).toEqual(before)
  })

  it('C5: each turn has one start and one end, whether it was answered, failed or was cancelled', async () => {
    const gate = createGate()
    const home = await startHousehold({
      ...{ tools: { clock: [clock] }, config: { agents } },
      script: (request) => {
        const text = JSON.stringify(request.messages.at(-1))
        if (text.includes('fail')) return { error: { status: 400, type: 'invalid_request_error' } }
        return textReply('fine', text.includes('slow') ? { holds: [{ beforeDelta: 0, gate }] } : {})
      },
    })
    const { sessions } = home.daemon.operator
    await sessions.post('cli:notes', { text: 'hello' })
    await sessions.post('cli:notes', { text: 'fail' })
    await sessions.post('cli:notes', { text: 'slow', waitSeconds: 0 })
    await gate.reached
    await sessions.cancel('cli:notes')
    gate.release()
    await sessions.post('cli:notes', { text: 'hello' })
    const daemon = await home.restart()
    const of = new Map<string | undefined, string[]>()
    for (const { type, turn } of await eventsOf({ daemon }, 'cli:notes'))
      if (type.startsWith('session:turn_')) of.set(turn, [...(of.get(turn) ?? []), type.slice('session:turn_'.length)])
    const [ended, stopped] = [
      ['started', 'completed'],
      ['started', 'cancelled'],
    ]
    expect([...of.values()]).toEqual([ended, ended, stopped, ended])
  })

  it('K38: a turn of one session delays neither an append to another nor its turn', async () => {
    const { gate, script: slow } = slowStart()
    const home = await startHousehold({ script: slow, tools: { clock: [clock] }, config: { agents } })
    const { sessions } = home.daemon.operator
    await sessions.post('cli:busy', { text: 'slow', waitSeconds: 0 })
    await gate.reached
    expect(await sessions.post('cli:idle', { text: 'for later', answer: false })).toMatchObject({ status: 'stored' })
    expect(await sessions.post('cli:idle', { text: 'hello', waitSeconds: 20 })).toMatchObject({ status: 'ok' })
    expect(await sessions.post('cli:busy', { text: 'too', answer: false })).toMatchObject({ status: 'stored' })
    expect(await sessions.show('cli:busy')).toMatchObject({ status: 'running' })
    gate.release()
  })

  it('R10: a text to a session that is not there fails before anything is stored', async () => {
    const home = await household()
    const before = await home.daemon.operator.sessions.list({ limit: 100, offset: 0, inactive: true })
    for (const name of ['telegram:group:-100999', 'cron:none', 'cli:'])
      await expect(home.daemon.operator.sessions.post(name, { text: 'hello' })).rejects.toThrow()
    expect(await home.daemon.operator.sessions.list({ limit: 100, offset: 0, inactive: true })).toEqual(before)
    expect(home.anthropic?.ledger.requests()).toEqual([])
  })

  it('R12: the text is on record before the call returns, and the answer comes as events', async () => {
    const home = await household()
    const { status } = await home.daemon.operator.sessions.post('cli:notes', { text: 'hello', waitSeconds: 0 })
    expect(status).toBe('accepted')
    const types = (await eventsOf(home, 'cli:notes')).map(({ type }) => type)
    expect(types.slice(0, 3)).toEqual(['session:started', 'user_message', 'session:turn_started'])
    await home.daemon.operator.sessions.post('cli:notes', { text: 'and?' })
    expect((await eventsOf(home, 'cli:notes')).map(({ type }) => type)).toContain('assistant_message')
  })
})

it('C44: the runs of a schedule are recorded apart: its session has messages and turns alone', async () => {
  const home = await startHousehold({
    script: () => textReply('the news'),
    config: { agents: [{ id: toAgentId('main'), model: 'anthropic/rehearsal', prompt: '', tools: [] }] },
    schedules: () => [
      {
        id: toScheduleId('news'),
        definition: {
          cron: '0 8 * * *',
          timezone: 'UTC',
          prompt: 'What is new?',
          deliverTo: parseAddress('telegram:direct:111'),
          missed: { kind: 'once' },
          overlap: 'skip',
        },
      },
    ],
  })
  home.telegram.world.say({ from: 111, text: '/help' })
  await home.telegram.ledger.nextFromBot('sent')
  await home.daemon.operator.schedules.run('news')
  await home.telegram.ledger.nextFromBot('sent', { where: ({ text }) => text.includes('the news') })
  const types = new Set((await eventsOf(home, 'schedule:news')).map(({ type }) => type))
  expect([...types].toSorted()).toEqual([
    'assistant_message',
    'session:started',
    'session:turn_completed',
    'session:turn_started',
    'user_message',
  ])
})
