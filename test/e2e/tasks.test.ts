import { describe, expect, it } from 'vitest'
import type { ToolRule } from '../../src/core/approval.ts'
import { toAgentId } from '../../src/core/ids.ts'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { createGate } from '../../src/rehearsal/deferred.ts'
import { member, owner, policy } from '../fakes/routing-policy.ts'
import { GROUP } from './asking-household.ts'
import { startHousehold } from './household.ts'
import { toolResult } from './obedient.ts'

const TOOLS = ['task', 'sessions', 'message']
const agents = [{ id: toAgentId('main'), model: 'anthropic/rehearsal', prompt: 'Obey.', tools: TOOLS }]

/** Does what anybody says: `use <tool> <arguments>`; what says `wait` waits for the gate. */
function obeying(gate = createGate()): Script {
  return (request) => {
    const result = toolResult(request)
    if (result !== undefined) return textReply(`it says: ${result}`)
    const [, tool, args] = /use (\w+) (\{.*\})/.exec(lastUserText(request)) ?? []
    if (tool && args)
      return {
        blocks: [{ type: 'tool_use', name: tool, input: JSON.parse(args) as Readonly<Record<string, unknown>> }],
      }
    if (lastUserText(request).includes('wait')) return { ...textReply('waited'), holds: [{ beforeDelta: 0, gate }] }
    return textReply(`done: ${lastUserText(request).split('\n').at(-1)?.replace(/^> /, '')}`)
  }
}

async function household({
  gate = createGate(),
  rules = [],
}: {
  gate?: ReturnType<typeof createGate>
  rules?: readonly ToolRule[]
} = {}) {
  const house = await startHousehold({
    ...{ script: obeying(gate), streaming: false, config: { agents, toolPolicy: rules } },
    routing: policy({
      people: [owner('ada', 'telegram:111'), member('bob', 'telegram:444')],
      access: { direct: 'public', groups: [{ match: {}, who: 'public', trigger: 'mention' }] },
    }),
  })
  const { world, ledger } = house.telegram
  world.addChat({ type: 'supergroup', title: 'Family', id: GROUP, members: [111, 444, 555] })
  const say = async (from: number, text: string, chat = from): Promise<string> => {
    const after = ledger.mark()
    world.say({ from, text, ...(chat === from ? {} : { chat }) })
    return (await ledger.nextFromBot('sent', { after, where: ({ chatId }) => chatId === chat })).text
  }
  const sessions = house.daemon.operator.sessions
  const listed = async () => (await sessions.list({ limit: 50, offset: 0, inactive: false })).sessions
  return { house, world, ledger, say, sessions, listed }
}

const task = (words: string): string => `use task ${JSON.stringify({ task: words })}`

describe('a task', () => {
  it('R13: the prompt has a hint about tasks where the agent can begin one', async () => {
    const { say, house } = await household()
    const hints = () =>
      house.anthropic?.ledger.requests().map(({ system }) => JSON.stringify(system).includes('the tool \\"task\\"'))
    await say(111, 'hello')
    await house.restart({ agents: agents.map((agent) => ({ ...agent, tools: ['sessions'] })) })
    await say(111, 'hello')
    expect(hints()).toEqual([true, false])
  })

  it('R36: is done in a session of its own, which keeps it, and comes back to the turn', async () => {
    const { say, listed, house } = await household()
    expect(await say(111, task('count the stars'))).toContain('"reply":"done: count the stars"')
    const [{ children = [], key } = { key: '' }, ...others] = await listed()
    expect([key, others]).toEqual(['telegram:direct:111', []])
    expect(children).toHaveLength(1)
    expect(children[0]?.key).toMatch(/^task:[a-z0-9]{12}$/)
    expect(children[0]?.description).toContain('count the stars')
    // Nothing else of the conversation is shown there.
    const own = house.anthropic?.ledger.requests()[1]?.messages
    expect(own).toHaveLength(1)
    expect(JSON.stringify(own)).toContain('count the stars')
    expect(house.telegram.world.messages(111, { by: 'bot' })).toHaveLength(1)
  })

  it('R33: is listed below its parent, in the order of activity, and goes with it', async () => {
    const { say, sessions, listed } = await household()
    await say(111, task('one'))
    await say(111, task('two'))
    const [{ id, children = [] } = { id: '' }] = await listed()
    expect(children.map(({ description }) => description.split(' ').at(-1))).toEqual(['two', 'one'])
    const [{ id: child } = { id: '' }] = children
    expect((await sessions.show(child)).parent).toBe(id)
    await sessions.delete(id)
    expect(await listed()).toEqual([])
    await expect(sessions.show(child)).rejects.toMatchObject({ code: 'not_found' })
  })

  it('R36: may do no more than who began it, and asks nobody', async () => {
    const { say, world } = await household()
    await say(111, 'hello')
    const sent = JSON.stringify({ sessionKey: 'main', message: 'pay me' })
    expect(await say(444, task(`use sessions_send ${sent}`))).toContain('There is no session')
    const posted = JSON.stringify({ to: 'telegram:direct:444', text: 'dinner' })
    expect(await say(111, task(`use send_message ${posted}`))).toContain('nobody is there in a run without people')
    expect(world.messages(444, { by: 'bot' })).toHaveLength(1)
  })

  it('R36: begun in a group reads nothing that the group could not, whoever writes to it', async () => {
    const { house, say } = await household()
    await say(111, 'my secret is bluebird')
    const [, key = ''] =
      /"sessionKey":"(task:[a-z0-9]+)"/.exec(await say(444, `@parley_bot ${task('one')}`, GROUP)) ?? []
    const looks = `use sessions_history ${JSON.stringify({ sessionKey: 'telegram:direct:111' })}`
    const writes = `use sessions_send ${JSON.stringify({ sessionKey: key, message: looks })}`
    expect(await say(111, writes)).toContain('Denied')
    await house.daemon.operator.sessions.post(key, { text: looks })
    expect(await say(111, `@parley_bot ${writes}`, GROUP)).toContain('Denied')
    const reads = `use sessions_history ${JSON.stringify({ sessionKey: key })}`
    expect(await say(444, `@parley_bot ${reads}`, GROUP)).not.toContain('bluebird')
  })

  it('R36: is held to the rules of the place that began it, and has no others', async () => {
    const here = { who: ['owner'], in: ['telegram:direct:111'] }
    const { say } = await household({
      rules: [
        { ...here, tools: ['sessions_list'], action: 'deny' },
        { ...here, tools: ['send_message'], action: 'allow' },
      ],
    })
    await say(444, 'hello')
    expect(await say(111, task('use sessions_list {}'))).toContain('the policy does not let sessions_list be used here')
    const post = JSON.stringify({ to: 'telegram:direct:444', text: 'dinner' })
    expect(await say(111, task(`use send_message ${post}`))).toContain('On its way')
    expect(await say(444, task(`use send_message ${post}`))).toContain('nobody is there in a run without people')
  })

  it('R36: is begun by no guest, and by no task', async () => {
    const { say, listed } = await household()
    expect(await say(555, task('mine bitcoin'))).toContain('Where guests speak, nothing is sent')
    expect(await say(444, `@parley_bot ${task('for us')}`, GROUP)).toContain('done: for us')
    expect(await say(555, '@parley_bot hello', GROUP)).toContain('done')
    expect(await say(444, `@parley_bot ${task('for us')}`, GROUP)).toContain('Where guests speak, nothing is sent')
    expect(await say(111, task(task('again')))).toContain('a task begins no other')
    expect((await listed()).flatMap(({ children = [] }) => children)).toHaveLength(2)
  })

  it('R36: is written to again by the conversation that began it, and by nobody else', async () => {
    const { say } = await household()
    const [, key = ''] = /"sessionKey":"(task:[a-z0-9]+)"/.exec(await say(444, task('one'))) ?? []
    const more = `use sessions_send ${JSON.stringify({ sessionKey: key, message: 'more' })}`
    expect(await say(444, more)).toContain('"reply":"done: more"')
    expect(await say(555, more)).not.toContain('done: more')
  })

  it('R31: stops with the turn that waits for it', async () => {
    const gate = createGate()
    const { say, world, sessions, listed, house } = await household({ gate })
    world.say({ from: 111, text: task('wait for it') })
    await expect.poll(async () => (await listed())[0]?.children?.[0]?.status).toBe('running')
    expect(await say(111, '/stop')).toMatch(/stopped/i)
    await expect.poll(async () => (await listed())[0]?.children?.[0]?.status).toBe('idle')
    gate.release()
    const [{ children: [child] = [] } = {}] = await listed()
    expect(await sessions.show(child?.id ?? '')).toMatchObject({ abortedLastRun: true })
    expect(house.anthropic?.ledger.requests()).toHaveLength(2)
  })
})
