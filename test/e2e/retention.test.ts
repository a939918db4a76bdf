import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { RoutingPolicy } from '../../src/core/policy.ts'
import type { RetentionSettings } from '../../src/core/retention.ts'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { withDatabase } from '../store/temp-database.ts'
import { parley } from './house-command.ts'
import { type Household, recorded, startHousehold } from './household.ts'
import { setClock } from './set-clock.ts'

const DAY = 86_400_000
const script: Script = (request) => textReply(`heard ${lastUserText(request).split('\n').at(-1)}`)

async function house(retention: RetentionSettings, routing: Partial<RoutingPolicy> = {}) {
  const clock = setClock('2026-11-01T08:00:00Z')
  const home = await startHousehold({ script, streaming: false, clock, routing, config: { retention } })
  const { world, ledger } = home.telegram
  const { id: group } = world.addChat({ type: 'supergroup', title: 'Family', members: [111, 444] })
  const say = async (text: string, chat = 111): Promise<void> => {
    const after = ledger.mark()
    world.say({ from: 111, text: chat < 0 ? `@parley_bot ${text}` : text, ...(chat === 111 ? {} : { chat }) })
    await ledger.nextFromBot('sent', { after, where: (sent) => sent.chatId === chat && sent.text.includes(text) })
    await recorded(home)
  }
  const told = (words: string) => ledger.nextFromBot('sent', { after: 0, where: ({ text }) => text.includes(words) })
  /** What the log of a chat still says. */
  const log = (): string =>
    withDatabase(join(home.dataDir, 'parley.db'), (database) =>
      JSON.stringify([
        ...database.prepare('SELECT data FROM events').all(),
        ...database.prepare('SELECT dispatch FROM inbox').all(),
      ]),
    )
  return { home, clock, group, say, told, log }
}

it('S41: a limit is reported to owners first; a day later what is older goes, whole turns, and what is younger stays', async () => {
  const { home, clock, say, told, log } = await house({ days: 30, rules: [] })
  await say('an old secret')
  clock.skip(31 * DAY)
  const { text } = await told('From tomorrow on I forget what is older than 30 days')
  expect(text).toContain('retention.days')
  const shown = await parley(home.config, ['status'])
  expect(shown.out).toContain('retention.days: what is older than 30 days is forgotten, from 2026-12-03')
  expect(log()).toContain('an old secret')
  await say('a young secret')
  clock.skip(DAY + 3_600_000)
  await expect.poll(log, { timeout: 30_000 }).not.toContain('an old secret')
  expect(log()).toContain('a young secret')
  await say('and now?')
  const prompt = JSON.stringify(home.anthropic?.ledger.requests().at(-1)?.messages)
  expect(prompt).toContain('a young secret')
  expect(prompt).not.toContain('an old secret')
})

it('F-C07: a group that a rule keeps is kept after it has become a supergroup', async () => {
  const rules = [{ match: { channel: 'telegram', chat: '-2001' }, days: 'keep' as const }]
  const { home, clock, say, log } = await house({ days: 10, rules })
  home.telegram.world.addChat({ type: 'group', title: 'Garden', id: -2001, members: [111, 444] })
  await say('here is a secret')
  await say('kept is a word', -2001)
  const { id } = home.telegram.world.migrate(-2001)
  await say('we are here now', id)
  clock.skip(11 * DAY)
  await parley(home.config, ['retention', 'run'])
  await expect.poll(log, { timeout: 30_000 }).not.toContain('here is a secret')
  expect(log()).toContain('kept is a word')
})

it('parley retention shows the limits and applies them at once; a chat that a rule keeps is kept, a shorter limit is reported anew', async () => {
  const rules = [{ match: { channel: 'telegram', chat: 'group:-1001000000001' }, days: 'keep' as const }]
  const { home, clock, group, say, log } = await house({ days: 10, rules })
  await say('here is a secret')
  await say('kept is a word', group)
  clock.skip(11 * DAY)
  const listed = await parley(home.config, ['retention', 'list'])
  expect(listed.out).toMatch(/retention\.days\s+10\s+1\s+\d+/)
  expect(log()).toContain('here is a secret')
  expect((await parley(home.config, ['retention', 'run'])).code).toBe(0)
  expect(log()).not.toContain('here is a secret')
  expect(log()).toContain('kept is a word')
  await say('a newer one')
  await home.restart({ retention: { days: 5, rules } })
  clock.skip(6 * DAY)
  const marks = JSON.parse((await parley(home.config, ['retention', 'list', '--json'])).out)
  expect(marks).toMatchObject([{ rule: 'retention.days', days: 5 }])
  expect(log()).toContain('a newer one')
})

it.each(['here', 'in the group'])(
  'S41: of chats that are one session the gentlest limit counts, wherever was spoken last: %s',
  async (last) => {
    const rules = [{ match: { channel: 'telegram', chat: 'group:-1001000000001' }, days: 'keep' as const }]
    const { home, clock, group, say, log } = await house({ days: 10, rules }, { dimensions: [] })
    await say('here is a word')
    await say('kept is a word', group)
    await say('that is all', last === 'here' ? 111 : group)
    clock.skip(11 * DAY)
    await parley(home.config, ['retention', 'run'])
    expect(log()).toContain('kept is a word')
    expect(log()).toContain('here is a word')
  },
)

it('S41: conversations that a limit comes to hold for are reported first, also where its days stay as they were', async () => {
  const kept = [{ match: { channel: 'telegram', chat: 'group:-1001000000001' }, days: 'keep' as const }]
  const { home, clock, group, say, told, log } = await house({ days: 10, rules: kept })
  await say('hello')
  await say('kept is a word', group)
  clock.skip(11 * DAY)
  await told('From tomorrow on I forget what is older than 10 days')
  await say('hello')
  clock.skip(2 * DAY)
  await recorded(home)
  const after = home.telegram.ledger.mark()
  await home.restart({ retention: { days: 10, rules: [] } })
  await say('hello again')
  clock.skip(3_600_000)
  await home.telegram.ledger.nextFromBot('sent', { after, where: ({ text }) => text.includes('older than 10 days') })
  expect(log()).toContain('kept is a word')
  await say('hello once more')
  clock.skip(DAY + 3_600_000)
  await expect.poll(log, { timeout: 30_000 }).not.toContain('kept is a word')
})

it('S41: a clock that is a year ahead over a restart removes nothing before it was reported and a day has passed', async () => {
  const { home, clock, say, told, log } = await house({ days: 30, rules: [] })
  await say('a young secret')
  clock.skip(DAY + 3_600_000)
  await told('From tomorrow on I forget what is older than 30 days')
  await say('a word of today')
  clock.skip(DAY + 3_600_000)
  clock.setBy(365 * DAY)
  await say('it is late')
  await home.restart()
  await say('it is late still')
  clock.skip(3_600_000)
  await expect.poll(() => reportsIn(home), { timeout: 30_000 }).toBe(2)
  expect(log()).toContain('a young secret')
  // Somebody sets it right: nothing is due for a long time.
  clock.setBy(-365 * DAY)
  clock.skip(3_600_000)
  await say('it is early')
  expect(log()).toContain('a young secret')
  // A day and more after the report, by a clock that stays ahead.
  clock.setBy(365 * DAY)
  clock.skip(3_600_000)
  await say('late again')
  clock.skip(DAY + 7_200_000)
  await expect.poll(log, { timeout: 30_000 }).not.toContain('a young secret')
})

it('S41: a clock that is set back an hour or ahead a day removes nothing young, and no report is said again', async () => {
  const { home, clock, say, told, log } = await house({ days: 30, rules: [] })
  await say('a young secret')
  clock.skip(DAY + 3_600_000)
  await told('From tomorrow on I forget what is older than 30 days')
  for (const step of [-3_600_000, DAY]) {
    clock.setBy(step)
    await say('a word')
    await home.restart()
    clock.skip(DAY + 3_600_000)
    await say('another word')
  }
  expect(log()).toContain('a young secret')
  expect(reportsIn(home)).toBe(1)
})

it('S41: what was said while the clock was ahead for an hour goes too, once it is too old', async () => {
  const { home, clock, say, log } = await house({ days: 30, rules: [] })
  await say('a first secret')
  clock.setBy(5 * DAY)
  await say('a secret of another day')
  clock.setBy(-5 * DAY)
  await say('a later secret')
  clock.skip(31 * DAY)
  await say('a word')
  await parley(home.config, ['retention', 'run'])
  expect(log()).not.toMatch(/a first secret|a later secret/)
  expect(log()).toContain('a secret of another day')
  clock.skip(10 * DAY)
  await say('a word')
  await parley(home.config, ['retention', 'run'])
  expect(log()).not.toContain('a secret of another day')
})

it('S41: what was said behind an hour in which the clock was a year ahead goes when it is too old, and so does what was said then', async () => {
  const { home, clock, say, log } = await house({ days: 30, rules: [] })
  await say('a first secret')
  clock.setBy(365 * DAY)
  // More events than are looked at together.
  for (let no = 0; no < 27; no++) await say(`secret number ${no} of another year`)
  clock.setBy(-365 * DAY)
  await say('a later secret')
  clock.skip(20 * DAY)
  await say('a young secret')
  clock.skip(11 * DAY)
  await say('a word')
  const counted = JSON.parse((await parley(home.config, ['retention', 'list', '--json'])).out)
  expect(counted[0].events).toBeGreaterThan(80)
  await parley(home.config, ['retention', 'run'])
  expect(log()).not.toMatch(/a first secret|a later secret|of another year/)
  expect(log()).toContain('a young secret')
})

it('S41: what was said while the clock was a year behind is as young as what was said around it', async () => {
  const { home, clock, say, log } = await house({ days: 30, rules: [] })
  await say('a first secret')
  clock.skip(20 * DAY)
  await say('a second secret')
  clock.setBy(-365 * DAY)
  await say('a secret of another year')
  await say('a further secret of another year')
  clock.setBy(365 * DAY)
  await say('a later secret')
  await parley(home.config, ['retention', 'run'])
  for (const said of ['a first secret', 'a second secret', 'a secret of another year', 'a further secret'])
    expect(log()).toContain(said)
  clock.skip(11 * DAY)
  await say('a word')
  await parley(home.config, ['retention', 'run'])
  expect(log()).not.toContain('a first secret')
  for (const said of ['a second secret', 'a secret of another year', 'a later secret']) expect(log()).toContain(said)
  clock.skip(21 * DAY)
  await say('another word')
  await parley(home.config, ['retention', 'run'])
  expect(log()).not.toMatch(/secret/)
  expect(log()).toContain('another word')
})

it('S41: in a chat that was quiet for long, what was said while the clock was behind is not gone the same day', async () => {
  const { home, clock, say, log } = await house({ days: 30, rules: [] })
  await say('a first secret')
  clock.skip(40 * DAY)
  clock.setBy(-365 * DAY)
  await say('a secret of another year')
  clock.setBy(365 * DAY)
  await parley(home.config, ['retention', 'run'])
  expect(log()).not.toContain('a first secret')
  expect(log()).toContain('a secret of another year')
  clock.skip(31 * DAY)
  await say('hello', -1001000000001)
  await parley(home.config, ['retention', 'run'])
  expect(log(), 'nobody has said anything there since').not.toContain('a secret of another year')
})

function reportsIn({ telegram }: Household): number {
  const said = telegram.world.messages(111, { by: 'bot' }).map(({ message }) => message.text ?? '')
  return said.filter((text) => text.includes('older than 30 days')).length
}

it('S41: where a session was continued, the shorter limit of that chat takes nothing from the one that is kept', async () => {
  const rules = [{ match: { channel: 'telegram', chat: 'group:-1001000000001' }, days: 'keep' as const }]
  const { home, clock, group, say, log } = await house({ days: 10, rules })
  await say('kept is a word', group)
  const to = ['sessions', 'fork', `telegram:group:${group}`, 'telegram:direct:111', '--yes']
  expect((await parley(home.config, to)).code).toBe(0)
  await say('go on')
  clock.skip(11 * DAY)
  expect((await parley(home.config, ['retention', 'run'])).code).toBe(0)
  expect(log().split('heard [Ada] @parley_bot kept is a word').length - 1, 'it is gone from the copy alone').toBe(1)
  const sent = withDatabase(join(home.dataDir, 'parley.db'), (database) =>
    JSON.stringify(database.prepare('SELECT part FROM outbox').all()),
  )
  expect(sent).toContain('kept is a word')
})
