import { expect, it } from 'vitest'
import { toAgentId } from '../../src/core/ids.ts'
import type { ApiMessage } from '../../src/rehearsal/slack/api-types.ts'
import { member, owner } from '../fakes/routing-policy.ts'
import { callText, repeating } from './obedient.ts'
import { startSlackHousehold } from './slack-household.ts'

const agents = [{ id: toAgentId('main'), model: 'anthropic/rehearsal', prompt: 'Obey.', tools: ['sessions', 'memory'] }]

/** A channel of Ada and Bob, whose id the configuration gives without its workspace. */
async function startChannel({ external = false }: { readonly external?: boolean } = {}) {
  const routing = { people: [owner('ada', 'slack:T01/U333'), member('bob', 'slack:U444')] }
  const house = await startSlackHousehold({ script: repeating, agents, routing, config: {} })
  const { world, ledger } = house.slack
  const { id: channel } = world.addChannel({ name: 'workshop', members: ['U333', 'U444'], external })
  /** Says it in the channel, or in a thread of it, and waits for the answer where the agent is addressed. */
  const ask = async (from: string, text: string, thread?: ApiMessage): Promise<ApiMessage> => {
    const after = ledger.mark()
    const said = world.say({ from, channel, text: `<@U0BOT> ${text}`, ...(thread ? { thread } : {}) })
    await ledger.nextFromBot('sent', { after, where: (sent) => sent.thread === (thread ?? said).ts })
    return said
  }
  const tell = async (from: string, text: string, thread: ApiMessage): Promise<void> => {
    await ledger.confirmed(world.say({ from, channel, text, thread }).ts)
  }
  /** The notice names no workspace. */
  const leave = async (from: string): Promise<void> => {
    const extra = { subtype: 'channel_leave', team: undefined }
    const { ts } = world.say({ from, channel, text: `<@${from}> has left the channel`, extra })
    world.setMember(channel, false, from)
    await ledger.confirmed(ts)
  }
  const search = async (query = 'bluebird'): Promise<string> => {
    const after = ledger.mark()
    world.say({ from: 'U444', text: callText('session_search', { query }) })
    return (await ledger.nextFromBot('sent', { after, where: (sent) => sent.text.includes('it says') })).text
  }
  return { ...house, house, world, ledger, channel, ask, tell, leave, search }
}

it.each([
  { of: 'a channel', external: false },
  { of: 'a channel with another workspace', external: true },
])('S20: whoever has left $of is shown nothing of its threads in private any more', async ({ external }) => {
  const { ask, tell, leave, search } = await startChannel({ external })
  const root = await ask('U444', 'hello')
  await tell('U333', 'a bluebird', root)
  expect(await search()).toContain('a bluebird')
  await leave('U444')
  await tell('U333', 'another bluebird', root)
  expect(await search()).not.toContain('another bluebird')
})

it('S20, S22: whoever had left before the agent read what they had said in a thread takes no part in it', async () => {
  const { world, channel, ledger, ask, search } = await startChannel()
  world.setMember(channel, false)
  const root = world.say({ from: 'U444', channel, text: 'the boiler leaks' })
  world.setMember(channel, false, 'U444')
  world.setMember(channel, true)
  await ask('U333', 'we buy a bluebird', root)
  expect(await search()).not.toContain('we buy a bluebird')
  const to = callText('sessions_send', { sessionKey: 'slack:direct:D1', message: 'hello', timeoutSeconds: 0 })
  const after = ledger.mark()
  await ask('U333', to, root)
  expect((await ledger.nextFromBot('sent', { after })).text).toMatch(/Denied: .* slack:t01\/u444/)
})

it('S20, S22: whoever has left a thread takes no part in it either where it begins afresh', async () => {
  const { world, channel, ledger, ask, leave, search } = await startChannel()
  const root = world.say({ from: 'U444', channel, text: 'the boiler leaks' })
  await ledger.confirmed(root.ts)
  await ask('U444', 'what now?', root)
  await leave('U444')
  await ask('U333', 'we look for it', root)
  const after = ledger.mark()
  world.say({ from: 'U333', channel, thread: root, text: '!new' })
  await ledger.next((entry) => entry.kind === 'whisper', { after })
  await ask('U333', 'we buy a bluebird', root)
  expect(await search()).not.toContain('we buy a bluebird')
})

it('S41: whoever has left the one channel where they spoke is forgotten by name', async () => {
  const { daemon, ask, leave } = await startChannel()
  await ask('U444', 'the bin goes out')
  await leave('U444')
  const forget = (name: string) => daemon.operator.forgetting.forget({ kind: 'person', name, confirmed: false })
  expect((await forget('bob')).counts.events).toBeGreaterThan(0)
  expect((await forget('slack:U444')).counts.events).toBeGreaterThan(0)
})

it('S20: whoever leaves while what they said in an outage is read back has left behind that too', async () => {
  const { house, slack, world, channel, ask, leave, search } = await startChannel()
  const root = await ask('U333', 'hello')
  await house.stop()
  const last = world.say({ from: 'U444', channel, thread: root, text: 'goodbye' })
  slack.events.giveUp()
  const history = slack.faults.add({ method: 'conversations.history', action: { kind: 'hold', when: 'before' } })
  const started = house.start()
  await history.reached
  await leave('U444')
  history.release()
  await started
  await expect.poll(async () => (await house.daemon.operator.why(last.ts)).length).toBe(1)
  await house.daemon.settled()
  await ask('U333', 'we buy a bluebird', root)
  expect(await search()).not.toContain('we buy a bluebird')
})
