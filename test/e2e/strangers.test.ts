import { expect, it, vi } from 'vitest'
import type { SendLimits } from '../../src/delivery/rate-limiter.ts'
import { textReply } from '../../src/rehearsal/anthropic/script.ts'
import { member, owner, policy } from '../fakes/routing-policy.ts'
import { startDiscordHousehold } from './discord-household.ts'
import { type Household, startHousehold } from './household.ts'
import { startSlackHousehold } from './slack-household.ts'

/** What Telegram takes from one bot. */
const TELEGRAM = { perSecond: 30, perChatPerSecond: 1, perGroupPerMinute: 20 }

const house = (limits?: SendLimits): Promise<Household> =>
  startHousehold({
    ...(limits ? { limits } : {}),
    routing: policy({
      people: [owner('ada', 'telegram:111'), member('bob', 'telegram:444')],
      access: { direct: 'allowlist', groups: [{ match: {}, who: 'allowlist', trigger: 'mention' }] },
    }),
  })

const sent = ({ telegram }: Household, chat: number, words: string, timeoutMs = 60_000) =>
  telegram.ledger.nextFromBot('sent', { where: (one) => one.chatId === chat && one.text.includes(words), timeoutMs })

/** So many people whom nobody knows, each with an id of their own. */
function strangers({ telegram }: Household, count: number): readonly number[] {
  const ids = Array.from({ length: count }, (_, index) => 900_000 + index)
  for (const id of ids) telegram.world.addUser({ id, firstName: 'Stranger' })
  return ids
}

it('2,000 strangers who ask at once do not keep the owner waiting, and the newest 1,000 of them are kept', async () => {
  const of = await house()
  const { telegram, daemon } = of
  telegram.world.say({ from: 111, text: 'hello' })
  await sent(of, 111, 'echo hello')
  const ids = strangers(of, 2_000)
  for (const from of ids) telegram.world.say({ from, text: 'let me in' })
  telegram.world.say({ from: 111, text: 'are you there?' })
  await sent(of, 111, 'echo are you there?')
  const last = ids.at(-1) ?? 0
  telegram.world.say({ from: last, text: 'and me?' })
  telegram.world.say({ from: 111, text: 'still there?' })
  await sent(of, 111, 'echo still there?')
  const listed = await daemon.operator.admissions.list()
  // Some of those kept may have come to a card of the owner's since.
  expect(listed.length).toBeGreaterThanOrEqual(1_000)
  expect(listed.filter(({ toldAt }) => toldAt === undefined).length).toBeLessThanOrEqual(1_000)
  expect(listed.map(({ key }) => key)).toContain(`telegram:${last}`)
}, 120_000)

it('the owner is answered before most of 2,000 refusals have left, at the pace that Telegram allows', async () => {
  const of = await house(TELEGRAM)
  const { telegram, daemon } = of
  telegram.world.say({ from: 111, text: 'hello' })
  await sent(of, 111, 'echo hello')
  for (const from of strangers(of, 2_000)) telegram.world.say({ from, text: 'let me in' })
  telegram.world.say({ from: 111, text: 'are you there?' })
  await sent(of, 111, 'echo are you there?')
  const refusals = telegram.ledger.count(
    (entry) => entry.kind === 'message' && entry.text.includes('only talk to people'),
  )
  expect(refusals).toBeLessThan(200)
  const { outbox } = await daemon.operator.status()
  // Some hundred lines wait at most; who was left out is told with their next word.
  expect((outbox.planned ?? 0) + (outbox.waiting ?? 0)).toBeLessThan(400)
}, 120_000)

it("200 /whoami of a member in a group do not hold up the owner's answer there", async () => {
  const of = await house(TELEGRAM)
  const { telegram, daemon } = of
  const { id: chat } = telegram.world.addChat({ type: 'supergroup', title: 'Club', members: [111, 444] })
  telegram.world.say({ from: 111, chat, text: '@parley_bot hello' })
  await sent(of, chat, 'echo')
  for (let nth = 0; nth < 200; nth++) telegram.world.say({ from: 444, chat, text: '/whoami@parley_bot' })
  const mark = telegram.ledger.mark()
  telegram.world.say({ from: 111, chat, text: '@parley_bot are you there?' })
  await sent(of, chat, 'are you there?')
  const meanwhile = telegram.ledger.count((entry) => entry.kind === 'message' && entry.text.includes('You are'), mark)
  expect(meanwhile).toBeLessThanOrEqual(4)
  await vi.waitFor(async () => expect((await daemon.operator.status()).outbox.expired).toBeGreaterThan(150), 10_000)
}, 60_000)

it("after a restart, too, the owner's answer goes before what strangers asked for with commands", async () => {
  const of = await startHousehold({
    // So slow that most still wait when the owner is answered, on a busy machine too, and fewer than are refused.
    limits: { ...TELEGRAM, perSecond: 10 },
    routing: policy({ people: [owner('ada', 'telegram:111')], access: { direct: 'public', groups: [] } }),
  })
  const { telegram, daemon } = of
  const ids = strangers(of, 90)
  for (const from of ids) telegram.world.say({ from, text: '/whoami' })
  telegram.world.say({ from: 111, text: 'hello' })
  await sent(of, 111, 'echo hello')
  expect((await daemon.operator.status()).outbox.planned).toBeGreaterThan(40)
  await of.restart()
  const mark = telegram.ledger.mark()
  telegram.world.say({ from: 111, text: 'are you there?' })
  await sent(of, 111, 'echo are you there?')
  const meanwhile = telegram.ledger.count((entry) => entry.kind === 'message' && entry.text.includes('You are'), mark)
  expect(meanwhile).toBeLessThan(40)
  const last = ids.at(-1) ?? 0
  await sent(of, last, 'You are')
}, 120_000)

it("many commands of a guest do not hold up the owner's answer on Discord, typed or from the menu", async () => {
  const limits = { perSecond: 45, perChatPerSecond: 1, perGroupPerMinute: 60 }
  const script = () => textReply('at your service')
  const { discord, channel } = await startDiscordHousehold({ script, settings: { limits } })
  await discord.ledger.nextCall('overwriteCommands')
  for (let nth = 0; nth < 30; nth++) {
    discord.world.say({ from: '444', channel, text: '!whoami' })
    discord.world.slash({ from: '444', channel, command: 'whoami' })
  }
  const mark = discord.ledger.mark()
  discord.world.say({ from: '222', channel, text: 'are you there?' })
  const own = await discord.ledger.nextFromBot('sent', {
    where: ({ text }) => text === 'at your service',
    timeoutMs: 30_000,
  })
  const upTo = discord.ledger.entries.indexOf(own)
  const meanwhile = discord.ledger.entries
    .slice(mark, upTo)
    .filter((entry) => 'text' in entry && String(entry.text).includes('You are'))
  expect(meanwhile.length).toBeLessThanOrEqual(10)
}, 60_000)

it("many commands of a member do not hold up the owner's answer on Slack", async () => {
  const limits = { perSecond: 5, perChatPerSecond: 1, perGroupPerMinute: 60 }
  const script = () => textReply('at your service')
  const { slack } = await startSlackHousehold({ script, others: { default: { limits } } })
  const channel = slack.world.addChannel({ name: 'workshop', members: ['U333', 'U444'] })
  for (let nth = 0; nth < 60; nth++) slack.world.say({ from: 'U444', channel, text: '!whoami' })
  const mark = slack.ledger.mark()
  slack.world.say({ from: 'U333', channel, text: '<@U0BOT> are you there?' })
  const own = await slack.ledger.next(
    (entry) => entry.kind === 'message' && entry.byBot && entry.text === 'at your service',
    { timeoutMs: 30_000 },
  )
  const upTo = slack.ledger.entries.indexOf(own)
  const meanwhile = slack.ledger.entries
    .slice(mark, upTo)
    .filter((entry) => 'text' in entry && String(entry.text).includes('You are'))
  expect(meanwhile.length).toBeLessThanOrEqual(10)
}, 60_000)
