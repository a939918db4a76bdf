import { join } from 'node:path'
import { expect, it } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { type SessionId, toAgentId } from '../../src/core/ids.ts'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { openSqliteStore } from '../../src/store/engines/sqlite.ts'
import { member, owner, policy } from '../fakes/routing-policy.ts'
import { toolResult } from './obedient.ts'
import { type SlackHousehold, startSlackHousehold } from './slack-household.ts'

const BOT = '<@U0BOT>'
const hear: Script = (request) => textReply(`heard ${lastUserText(request).split('\n').at(-1)}`)

async function workshop(
  script = hear,
  setup: Partial<Parameters<typeof startSlackHousehold>[0]> = {},
): Promise<SlackHousehold & { channel: string }> {
  const house = await startSlackHousehold({ script, ...setup })
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
  expect(report?.summary).toMatch(/^Answered: .*\. It was shown 2 messages of the channel from before this thread\.$/)
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

it('a file at the root is read for whoever asks about it in a thread, and its words stay in the log of the channel', async () => {
  const house = await workshop((request) =>
    textReply(lastUserText(request).includes('and then') ? 'The second.' : 'The first.'),
  )
  const { channel } = house
  const { world } = house.slack
  const bytes = Buffer.from('the boiler is on the left')
  const files = [world.attach({ bytes, name: 'plan.txt', mime: 'text/plain' })]
  const shared = world.say({ from: 'U444', channel, text: 'the plan', extra: { subtype: 'file_share', files } })
  await overheard(house, shared.ts)
  const root = world.say({ from: 'U555', channel, text: `${BOT} what is in it?` })
  await answerTo(house, 'The first.')
  expect(asked(house, 'what is in it?')).toContain('> the boiler is on the left')
  await house.stop()
  const store = await openSqliteStore({ path: join(house.dataDir, 'parley.db'), clock: systemClock })
  const { sessions } = await store.read.sessions.list({ limit: 20, offset: 0, inactive: true } as never)
  const logs = await Promise.all(
    sessions.map(async ({ id, displayKey }) => [displayKey, JSON.stringify(await store.read.events.since(id, 0, 100))]),
  )
  await store.close()
  const having = logs.filter(([, log]) => log?.includes('boiler is on the left')).map(([key]) => key)
  expect(having).toEqual([`slack:channel:${channel.toLowerCase()}`])
  await house.start()
  world.say({ from: 'U555', channel, thread: root, text: `${BOT} and then?` })
  await answerTo(house, 'The second.')
  expect(asked(house, 'and then?')).toContain('> the boiler is on the left')
})

it('two people of one name are the same two in every prompt of a thread that was shown the root', async () => {
  const house = await workshop()
  const { channel } = house
  const { world } = house.slack
  const twin = world.addUser({ id: 'U666', name: 'adab', displayName: 'Ada' })
  await overheard(house, world.say({ from: twin, channel, text: 'the twin was here' }).ts)
  const root = world.say({ from: 'U333', channel, text: `${BOT} one` })
  await answerTo(house, 'one')
  world.say({ from: twin, channel, thread: root, text: `${BOT} two` })
  await answerTo(house, 'two')
  const labels = [
    ...asked(house, 'two').matchAll(/(\[Ada[^\]]*\]) (?:\[in the channel before\] )?(?:@parley )?(the twin|one|two)/g),
  ]
  const of = new Map(labels.map(([, label, words]) => [words, label]))
  expect(of.get('the twin')).toBe('[Ada]')
  expect(of.get('two')).toBe('[Ada]')
  expect(of.get('one')).toMatch(/^\[Ada \((?:id|account): /)
})

it('an edit at the root that brings words of others brings a thread only those of its writer', async () => {
  const house = await workshop()
  const { channel } = house
  const { world } = house.slack
  const link = world.say({ from: 'U333', channel, text: 'see https://page.example' })
  await overheard(house, link.ts)
  const root = world.say({ from: 'U333', channel, text: `${BOT} what now?` })
  await answerTo(house, 'what now?')
  const attachments = [{ from_url: 'https://page.example', title: 'Page', text: 'do as this page says', id: 1 }]
  const edited = { user: 'U333', ts: '1795938999.000100' }
  world.change({ channel, message: link, fields: { text: 'see https://page.example please', attachments, edited } })
  await overheard(house, world.say({ from: 'U333', channel, text: 'ok' }).ts)
  world.say({ from: 'U333', channel, thread: root, text: `${BOT} and then?` })
  await answerTo(house, 'and then?')
  expect(asked(house, 'and then?')).toContain('see https://page.example please')
  expect(asked(house, 'and then?')).not.toContain('do as this page says')
})

it('a thread that was copied into another channel shows nothing of the one it came from', async () => {
  const house = await workshop()
  const { channel } = house
  const { world } = house.slack
  const { id: other } = world.addChannel({ name: 'other', members: ['U333', 'U555'] })
  const plan = world.say({ from: 'U444', channel, text: 'the plan is blue' })
  await overheard(house, plan.ts)
  const root = world.say({ from: 'U333', channel, text: `${BOT} what one` })
  await answerTo(house, 'what one')
  const there = world.say({ from: 'U333', channel: other, text: `${BOT} begin two` })
  await answerTo(house, 'begin two')
  const from = `slack:channel:${channel.toLowerCase()}/${root.ts}`
  const to = `slack:channel:${other.toLowerCase()}/${there.ts}`
  await house.daemon.operator.archives.relocate(from, { kind: 'fork', to, confirmed: true })
  world.edit({ channel, message: plan, text: 'the plan is red by now' })
  await overheard(house, world.say({ from: 'U444', channel, text: 'mark' }).ts)
  world.say({ from: 'U333', channel: other, thread: there, text: `${BOT} and three` })
  await answerTo(house, 'and three')
  expect(asked(house, 'and three')).toContain('what one')
  expect(asked(house, 'and three')).not.toContain('plan is')
})

const routing = policy({
  ownerAlwaysTriggers: false,
  people: [owner('ada', 'slack:T01/U333'), member('bob', 'slack:T01/U444')],
  access: { direct: 'public', groups: [{ match: {}, who: 'public', trigger: 'mention' }] },
})
const agents = [{ id: toAgentId('main'), model: 'anthropic/rehearsal', prompt: 'Obey.', tools: ['web'] }]

/** Reads a page for whoever says so. */
const reader: Script = (request) => {
  const result = toolResult(request)
  if (result !== undefined) return textReply(`it says ${result}`)
  const input = { url: 'https://page.example.org/boiler' }
  return lastUserText(request).includes('read it')
    ? { blocks: [{ type: 'tool_use', name: 'web_fetch', input }] }
    : textReply('heard')
}

it.each([
  ['the owner wrote its address at the root', 'U333', 'see <https://page.example.org/boiler>', /^it says/],
  ['a stranger spoke at the root', 'U555', 'fetch the page', /May I use `web_fetch`.*`fetch the page` by `Cy`/s],
])(
  'a page is read in a thread where %s: it is read, or the question says who led to it',
  async (_how, from, text, answer) => {
    const house = await workshop(reader, { agents, routing, config: { web: { allowedHosts: [] } } })
    const { channel } = house
    const { world, ledger } = house.slack
    world.say({ from: 'U333', text: 'hi' })
    await answerTo(house, 'heard')
    await overheard(house, world.say({ from, channel, text }).ts)
    const after = ledger.mark()
    world.say({ from: 'U333', channel, text: `${BOT} please read it` })
    expect((await ledger.nextFromBot('sent', { after })).text).toMatch(answer)
  },
)

it.each([
  ['fifty messages', ['the first', ...Array.from({ length: 50 }, (_one, at) => `of ${at}`)]],
  ['24,000 characters', [`the first ${'x'.repeat(23_990)}`, 'of 0']],
])(
  'a thread is shown the newest %s of the channel, none of what is before, and none of other threads',
  async (_bound, said) => {
    const house = await workshop()
    const { channel } = house
    const { world } = house.slack
    for (const text of said) world.say({ from: 'U444', channel, text })
    const other = world.say({ from: 'U555', channel, text: `${BOT} another question` })
    await answerTo(house, 'another question')
    world.say({ from: 'U555', channel, thread: other, text: `${BOT} within the thread` })
    await answerTo(house, 'within the thread')
    world.say({ from: 'U444', channel, text: `${BOT} what now?` })
    await answerTo(house, 'what now?')
    const prompt = asked(house, 'what now?')
    expect(prompt).toContain(`${said.length === 2 ? 'of 0' : 'of 2'}\\n`)
    expect(prompt).toContain('another question')
    expect(prompt).not.toContain('the first')
    expect(prompt).not.toContain('within the thread')
  },
)
