import { expect, it } from 'vitest'
import type { Config } from '../../src/config/config.ts'
import { toAgentId } from '../../src/core/ids.ts'
import { NO_MODEL } from '../../src/core/model.ts'
import { textReply } from '../../src/rehearsal/anthropic/script.ts'
import { type Household, startHousehold } from './household.ts'

const LINE = 'I have no language model yet'

const withModel = (model: string): Config['agents'] => [
  { id: toAgentId('main'), model, prompt: 'You are Parley.', tools: ['time'] },
]

/** Ada's household, whose agent has no model; the server of one is there for later. */
function bare(): Promise<Household> {
  return startHousehold({ script: () => textReply('answered'), config: { agents: withModel(NO_MODEL) } })
}

/** Says something, and resolves with the message of the bot that follows. */
async function answer({ telegram }: Household, say: Parameters<Household['telegram']['world']['say']>[0]) {
  const after = telegram.ledger.mark()
  telegram.world.say(say)
  return (await telegram.ledger.nextFromBot('sent', { after })).text
}

/** Resolves once the turn for a message has ended without an answer. */
async function failed({ daemon }: Household, message: number): Promise<void> {
  await expect
    .poll(async () => (await daemon.operator.why(String(message))).map(({ outcome }) => outcome))
    .toContain('failed')
}

it('R11: an agent without a model says so to every message of a direct chat, with the remedy', async () => {
  const house = await bare()
  const told = await answer(house, { from: 111, text: 'hello' })
  expect(told).toContain(LINE)
  expect(told).toContain('sets ANTHROPIC_API_KEY or OPENAI_API_KEY, or names a model in my configuration')
  const { telegram } = house
  const again = telegram.world.say({ from: 111, text: 'hello?' })
  await failed(house, again.message_id)
  expect(await answer(house, { from: 444, text: 'and to me?' })).toContain(LINE)
  await expect.poll(() => telegram.world.messages(111, { by: 'bot' })).toHaveLength(2)
  expect((await house.daemon.operator.status()).models).toEqual([])
  const [why] = await house.daemon.operator.why(String(again.message_id))
  expect(why?.summary).toContain('set ANTHROPIC_API_KEY or OPENAI_API_KEY')
  // Nothing of that is a failure of a model that owners are notified of.
  expect((await house.daemon.operator.status()).modelServers).toMatchObject([{ name: 'anthropic', troubles: [] }])
})

it('R11: in a group an agent without a model is silent, and tells each person who addresses it', async () => {
  const house = await bare()
  const { telegram } = house
  const { id: chat } = telegram.world.addChat({ type: 'supergroup', title: 'Family', members: [111, 444, 555] })
  const aside = telegram.world.say({ from: 111, chat, text: 'who brings bread?' })
  await failed(house, aside.message_id)
  expect(telegram.ledger.all(({ kind }) => kind === 'call').map((one) => 'method' in one && one.method)).not.toContain(
    'sendChatAction',
  )
  for (const from of [111, 444]) {
    expect(await answer(house, { from, chat, text: '@parley_bot who brings bread?' })).toContain(LINE)
    const more = telegram.world.say({ from, chat, text: '@parley_bot please?' })
    await failed(house, more.message_id)
  }
  expect(telegram.world.messages(chat, { by: 'bot' })).toHaveLength(2)
})

it('R11: what was said before there was a model is context for the first answer of one', async () => {
  const house = await bare()
  expect(await answer(house, { from: 111, text: 'my cat is called Tom' })).toContain(LINE)
  await house.restart({ agents: withModel('anthropic/rehearsal') })
  expect(await answer(house, { from: 111, text: 'what is my cat called?' })).toBe('answered')
  const [request] = house.anthropic?.ledger.requests() ?? []
  expect(JSON.stringify(request)).toContain('my cat is called Tom')
  expect(JSON.stringify(request)).not.toContain(LINE)
})

it('R11: a session of a program that began without a model has that of its agent later', async () => {
  const house = await bare()
  const { id } = await house.daemon.operator.sessions.create({ worker: 'main', workspace: 'notes' })
  await house.restart({ agents: withModel('anthropic/rehearsal') })
  expect(await house.daemon.operator.sessions.post(id, { text: 'hello' })).toMatchObject({
    reply: 'answered',
  })
})
