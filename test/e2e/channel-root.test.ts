import { join } from 'node:path'
import { expect, it } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import type { SessionId } from '../../src/core/ids.ts'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { openSqliteStore } from '../../src/store/engines/sqlite.ts'
import { type SlackHousehold, startSlackHousehold } from './slack-household.ts'

const BOT = '<@U0BOT>'
const hear: Script = (request) => textReply(`heard ${lastUserText(request).split('\n').at(-1)}`)

async function workshop(script = hear): Promise<SlackHousehold & { channel: string }> {
  const house = await startSlackHousehold({ script })
  const { id } = house.slack.world.addChannel({ name: 'workshop', members: ['U333', 'U444', 'U555'] })
  return Object.assign(house, { channel: id })
}

const answerTo = ({ slack }: SlackHousehold, words: string) =>
  slack.ledger.next((entry) => entry.kind === 'message' && entry.byBot && entry.text.includes(words))

/** The newest request that ends with these words. */
const asked = ({ anthropic }: SlackHousehold, words: string): string =>
  JSON.stringify(anthropic.ledger.requests().findLast((one) => lastUserText(one).includes(words))?.messages)

async function overheard({ slack }: SlackHousehold, ts: string): Promise<void> {
  await slack.ledger.confirmed(ts)
}

it('a thread that begins with a mention is shown what people said at the root before, and why says so', async () => {
  const house = await workshop()
  const { channel } = house
  const { world } = house.slack
  world.say({ from: 'U444', channel, text: 'the boiler leaks' })
  const last = world.say({ from: 'U555', channel, text: 'it did last year too' })
  await overheard(house, last.ts)
  const mention = world.say({ from: 'U444', channel, text: `${BOT} what now?` })
  await answerTo(house, 'what now?')
  expect(asked(house, 'what now?')).toMatch(
    /\[(?:Bob|U444)\] \[in the channel before\] the boiler leaks.*\[(?:Cy|U555)\] \[in the channel before\] it did last year too.*what now\?/,
  )
  const [report] = await house.daemon.operator.why(mention.ts)
  expect(report?.context).toContain('2 messages of the channel from before')
})

it('an edit at the root counts in every later prompt of the thread, and what was deleted there is gone', async () => {
  const house = await workshop()
  const { channel } = house
  const { world } = house.slack
  const boiler = world.say({ from: 'U444', channel, text: 'the boiler leaks' })
  const lamp = world.say({ from: 'U555', channel, text: 'the lamp is broken' })
  await overheard(house, lamp.ts)
  const root = world.say({ from: 'U444', channel, text: `${BOT} what now?` })
  await answerTo(house, 'what now?')
  world.edit({ channel, message: boiler, text: 'the kettle leaks' })
  world.remove(channel, lamp)
  const mark = world.say({ from: 'U555', channel, text: 'both are in order now' })
  await overheard(house, mark.ts)
  world.say({ from: 'U444', channel, thread: root, text: `${BOT} and then?` })
  await answerTo(house, 'and then?')
  expect(asked(house, 'and then?')).toContain('[in the channel before] the kettle leaks')
  expect(asked(house, 'and then?')).not.toContain('boiler')
  expect(asked(house, 'and then?')).not.toContain('lamp')
})

it('the log of the thread has references and no word of the channel, and shows them after a restart too', async () => {
  const house = await workshop()
  const { channel } = house
  const { world } = house.slack
  await overheard(house, world.say({ from: 'U444', channel, text: 'the boiler leaks' }).ts)
  const root = world.say({ from: 'U555', channel, text: `${BOT} what now?` })
  await answerTo(house, 'what now?')
  const { sessions } = await house.daemon.operator.sessions.list({ limit: 20, offset: 0, inactive: true })
  const thread = sessions.find(({ key }) => key.endsWith(root.ts))
  await house.stop()
  const store = await openSqliteStore({ path: join(house.dataDir, 'parley.db'), clock: systemClock })
  const log = JSON.stringify(await store.read.events.since((thread?.id ?? '') as SessionId, 0, 100))
  await store.close()
  expect(log).toContain('"source":{"session"')
  expect(log).not.toContain('boiler')
  await house.start()
  world.say({ from: 'U555', channel, thread: root, text: `${BOT} and then?` })
  await answerTo(house, 'and then?')
  expect(asked(house, 'and then?')).toContain('[in the channel before] the boiler leaks')
})

it('S41: whoever has their words at the root forgotten is forgotten in the thread, with the turn that was shown them', async () => {
  const house = await workshop((request) => {
    const said = lastUserText(request)
    return textReply(
      said.includes('and then') ? 'Wait.' : said.includes('what now') ? 'Call somebody about it.' : 'Fine.',
    )
  })
  const { channel } = house
  const { world } = house.slack
  await overheard(house, world.say({ from: 'U444', channel, text: 'the boiler leaks' }).ts)
  const root = world.say({ from: 'U555', channel, text: `${BOT} what now?` })
  await answerTo(house, 'Call somebody')
  expect(asked(house, 'what now?')).toContain('the boiler leaks')
  await house.daemon.operator.forgetting.forget({ kind: 'person', name: 'slack:U444', confirmed: true })
  world.say({ from: 'U555', channel, thread: root, text: `${BOT} and then?` })
  await answerTo(house, 'Wait.')
  expect(asked(house, 'and then?')).not.toContain('boiler')
  expect(asked(house, 'and then?')).not.toContain('Call somebody')
  expect(asked(house, 'and then?')).toContain('what now?')
})

it('a session moves into a thread of a channel, where mentions reach it, and into its root it does not', async () => {
  const house = await workshop()
  const { channel } = house
  const { world } = house.slack
  const root = world.say({ from: 'U444', channel, text: `${BOT} begin` })
  await answerTo(house, 'begin')
  const elsewhere = world.say({ from: 'U444', channel, text: `${BOT} the plan is red` })
  await answerTo(house, 'the plan is red')
  const { archives } = house.daemon.operator
  const key = `slack:channel:${channel.toLowerCase()}`
  const move = (to: string) => archives.relocate(`${key}/${elsewhere.ts}`, { kind: 'move', to, confirmed: true })
  await expect(move(`slack:channel:${channel}`)).rejects.toThrow(
    'each mention begins a thread of its own, so nobody would reach the session at its root. Name a thread',
  )
  await move(`${key}/${root.ts}`)
  world.say({ from: 'U444', channel, thread: root, text: `${BOT} which plan?` })
  await answerTo(house, 'which plan?')
  expect(asked(house, 'which plan?')).toContain('heard')
  expect(asked(house, 'which plan?')).toContain('the plan is red')
})
