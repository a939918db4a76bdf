import { expect, it } from 'vitest'
import { toAgentId } from '../../src/core/ids.ts'
import { member, owner } from '../fakes/routing-policy.ts'
import { type Household, startHousehold } from './household.ts'
import { callText, repeating } from './obedient.ts'
import { startSlackHousehold } from './slack-household.ts'

const GROUP = -1001000000001
const agents = [{ id: toAgentId('main'), model: 'anthropic/rehearsal', prompt: 'Obey.', tools: ['sessions', 'memory'] }]
const people = [owner('ada', 'telegram:111'), member('bob', 'telegram:444')]
const READING = [
  callText('session_search', { query: 'bluebird' }),
  callText('memory_search', { query: 'bluebird' }),
  callText('sessions_history', { sessionKey: `telegram:group:${GROUP}` }),
]

async function startGroup(): Promise<Household> {
  const house = await startHousehold({ script: repeating, streaming: false, config: { agents }, routing: { people } })
  const type = 'supergroup'
  house.telegram.world.addChat({ type, id: GROUP, title: 'Family', members: [111, 444] })
  await say(house, 444, 'hello @parley_bot', GROUP)
  return house
}

async function say({ telegram }: Household, from: number, text: string, chat = from): Promise<string> {
  const after = telegram.ledger.mark()
  telegram.world.say({ from, text, ...(chat === from ? {} : { chat }) })
  return (await telegram.ledger.nextFromBot('sent', { after, where: ({ chatId }) => chatId === chat })).text
}

async function leave({ telegram, daemon }: Household): Promise<void> {
  const after = telegram.ledger.mark()
  telegram.world.setMember({ chat: GROUP, user: 444, by: 111, status: 'kicked' })
  await telegram.ledger.listening({ after })
  await daemon.settled()
}

async function readInPrivate(house: Household): Promise<string> {
  const answers = []
  for (const call of READING) answers.push(await say(house, 444, call))
  return answers.join('\n')
}

it('S20: whoever has left a group is shown nothing of it in private any more, over a restart too', async () => {
  const house = await startGroup()
  await say(house, 111, callText('memory_save', { text: 'the bluebird is sold' }), GROUP)
  expect(await readInPrivate(house)).toContain('the bluebird is sold')
  await leave(house)
  await say(house, 111, 'we buy another bluebird', GROUP)
  await house.restart()
  const read = await readInPrivate(house)
  expect(read).not.toContain('we buy another bluebird')
  expect(read).toMatch(/says: \[\]\n.*There is no session telegram:group/)
})

it('T32: whoever has left a group stays an author of what was said there', async () => {
  const house = await startGroup()
  await say(house, 444, 'pay me @parley_bot', GROUP)
  await leave(house)
  const to = callText('sessions_send', { sessionKey: 'telegram:direct:111', message: 'hello', timeoutSeconds: 0 })
  await say(house, 111, 'hello')
  expect(await say(house, 111, to, GROUP)).toMatch(/Denied: .* telegram:444/)
})

it('S22: whoever comes back takes part again with the first word', async () => {
  const house = await startGroup()
  await leave(house)
  house.telegram.world.setMember({ chat: GROUP, user: 444, by: 111, status: 'member' })
  await say(house, 111, 'we buy another bluebird', GROUP)
  await say(house, 444, 'hello again @parley_bot', GROUP)
  expect(await readInPrivate(house)).toContain('we buy another bluebird')
})

it('S20: on Slack, whoever has left a channel is shown nothing of its threads in private any more', async () => {
  const routing = { people: [owner('ada', 'slack:T01/U333'), member('bob', 'slack:T01/U444')] }
  const { slack } = await startSlackHousehold({ script: repeating, agents, routing, config: {} })
  const { world, ledger } = slack
  const { id: channel } = world.addChannel({ name: 'workshop', members: ['U333', 'U444'] })
  const search = async (): Promise<string> => {
    const after = ledger.mark()
    world.say({ from: 'U444', text: callText('session_search', { query: 'bluebird' }) })
    return (await ledger.nextFromBot('sent', { after, where: (sent) => sent.text.includes('it says') })).text
  }
  const root = world.say({ from: 'U444', channel, text: '<@U0BOT> hello' })
  await ledger.nextFromBot('sent', { where: ({ thread }) => thread === root.ts })
  const first = world.say({ from: 'U333', channel, thread: root, text: 'a bluebird' })
  await ledger.confirmed(first.ts)
  expect(await search()).toContain('a bluebird')
  const extra = { subtype: 'channel_leave' }
  const gone = world.say({ from: 'U444', channel, text: '<@U444> has left the channel', extra })
  await ledger.confirmed(gone.ts)
  const second = world.say({ from: 'U333', channel, thread: root, text: 'another bluebird' })
  await ledger.confirmed(second.ts)
  expect(await search()).not.toContain('another bluebird')
})
