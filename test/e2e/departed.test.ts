import { expect, it } from 'vitest'
import { toAgentId } from '../../src/core/ids.ts'
import { member, owner, policy } from '../fakes/routing-policy.ts'
import { heldHook } from './held-hook.ts'
import { type Household, type HouseholdOptions, startHousehold } from './household.ts'
import { callText, repeating } from './obedient.ts'

const GROUP = -1001000000001
const agents = [{ id: toAgentId('main'), model: 'anthropic/rehearsal', prompt: 'Obey.', tools: ['sessions', 'memory'] }]
const people = [owner('ada', 'telegram:111'), member('bob', 'telegram:444')]
const READING = [
  callText('session_search', { query: 'bluebird' }),
  callText('memory_search', { query: 'bluebird' }),
  callText('sessions_history', { sessionKey: `telegram:group:${GROUP}` }),
]

async function startGroup(config: HouseholdOptions['config'] = {}): Promise<Household> {
  const settings = { config: { agents, ...config }, routing: { people } }
  const house = await startHousehold({ script: repeating, streaming: false, ...settings })
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

it('S20, R8: whoever leaves while a hook is asked about their last words has left behind these', async () => {
  const { hook, asked, answer } = await heldHook('before_save', { held: 'goodbye' })
  const house = await startGroup({ hooks: [hook] })
  const { telegram, daemon } = house
  await say(house, 111, '/new', GROUP)
  const after = telegram.ledger.mark()
  telegram.world.say({ from: 444, text: 'goodbye @parley_bot', chat: GROUP })
  await asked
  const gone = telegram.ledger.mark()
  telegram.world.setMember({ chat: GROUP, user: 444, by: 111, status: 'kicked' })
  await telegram.ledger.next((entry) => entry.kind === 'delivered', { after: gone })
  await telegram.ledger.nextCall('getUpdates', { after: telegram.ledger.mark() })
  answer()
  await telegram.ledger.nextFromBot('sent', { after, where: ({ chatId }) => chatId === GROUP })
  await daemon.settled()
  await say(house, 111, 'we buy another bluebird', GROUP)
  expect(await readInPrivate(house)).not.toContain('we buy another bluebird')
})

it('S20: whoever left a group before an owner let it in takes no part in what they had said there', async () => {
  const routing = policy({ people, access: { direct: 'allowlist', groups: [] } })
  const house = await startHousehold({ script: repeating, streaming: false, config: { agents }, routing })
  const { world, ledger } = house.telegram
  await say(house, 111, 'hello')
  world.addChat({ type: 'supergroup', id: GROUP, title: 'Family', members: [111, 444] })
  const after = ledger.mark()
  world.say({ from: 444, text: 'hello @parley_bot', chat: GROUP })
  const card = await ledger.nextFromBot('sent', { after, where: ({ text }) => text.includes('/admit') })
  await leave(house)
  const admitted = ledger.mark()
  world.say({ from: 111, text: `/admit ${/\/admit ([a-z0-9]{5})/.exec(card.text)?.[1]}` })
  await ledger.nextFromBot('sent', { after: admitted, where: ({ chatId }) => chatId === GROUP })
  await house.daemon.settled()
  await say(house, 111, 'we buy another bluebird', GROUP)
  expect(await readInPrivate(house)).not.toContain('we buy another bluebird')
})
