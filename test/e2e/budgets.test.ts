import { describe, expect, it } from 'vitest'
import type { BudgetConfig } from '../../src/core/budget.ts'
import { toAgentId } from '../../src/core/ids.ts'
import { type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { member, owner, policy } from '../fakes/routing-policy.ts'
import { AwaitedLog } from './awaited-log.ts'
import { type Household, type HouseholdOptions, recorded, startHousehold } from './household.ts'
import { setClock } from './set-clock.ts'

const POLL = { timeout: 40_000, interval: 25 }
const PRICES = { 'anthropic/rehearsal': { input: 1, output: 1 } }
const usage = { input_tokens: 450, output_tokens: 50 }
const agents = [
  { id: toAgentId('main'), model: 'anthropic/rehearsal', prompt: 'Be calm.', tools: [], answerTokens: 100 },
]

/** Each answer costs 500 tokens, and may cost some hundred more. */
const script: Script = () => textReply('fine', { usage })

interface House extends Household {
  readonly group: number
  say(from: number, chat: number, text: string): number
  /** Says it and returns the first message of the bot that follows there. */
  ask(from: number, chat: number, text: string): Promise<string>
  /** Says it and returns what became of it. */
  outcome(from: number, chat: number, text: string): Promise<string | undefined>
  calls(): number
  texts(chat: number): string[]
}

async function startHouse(budgets: Partial<BudgetConfig>, more: HouseholdOptions = {}): Promise<House> {
  const home = await startHousehold({
    ...{ script, streaming: false },
    routing: policy({
      people: [owner('ada', 'telegram:111'), member('bob', 'telegram:444')],
      access: { direct: 'public', groups: [{ match: {}, who: 'public', trigger: 'mention' }] },
    }),
    ...more,
    config: { agents, budgets: { timezone: 'UTC', warnAt: 0.8, prices: PRICES, ...budgets }, ...more.config },
  })
  const { world, ledger } = home.telegram
  const group = world.addChat({ type: 'group', title: 'Club', members: [111, 444, 555] }).id
  const say = (from: number, chat: number, text: string) => world.say({ from, chat, text }).message_id
  return Object.assign(home, {
    ...{ group, say },
    async ask(from: number, chat: number, text: string) {
      const after = ledger.mark()
      say(from, chat, text)
      return (await ledger.nextFromBot('sent', { after, where: ({ chatId }) => chatId === chat })).text
    },
    async outcome(from: number, chat: number, text: string) {
      const id = say(from, chat, text)
      const look = async () =>
        (await home.daemon.operator.why(String(id))).find(({ address }) => address.endsWith(`:${chat}`))?.outcome
      await expect.poll(look, POLL).toMatch(/^(answered|failed|silent)$/)
      return look()
    },
    calls: () => home.anthropic?.ledger.requests().length ?? 0,
    texts: (chat: number) => world.messages(chat, { by: 'bot' }).map(({ message }) => message.text ?? ''),
  })
}

const ME = '@parley_bot'
const STOP = /^My budget for this chat for today is used up; it begins anew on 2026-11-27 at 00:00 \(UTC\)\.$/
const NOON = '2026-11-26T12:00:00Z'
/** No budget of these tests covers a call with it. */
const LONG = 'a long story '.repeat(300)

describe('a budget of a chat', () => {
  const chat = { each: { day: { tokens: 2_900 } } }

  it('C33: warns once, stops before the call with its own code, says so once, there, by /budget and status, until the next day', async () => {
    const clock = setClock(NOON)
    const house = await startHouse({ chat }, { clock })
    const { group } = house
    for (let answer = 0; answer < 5; answer++) expect(await house.outcome(444, group, `${ME} hello`)).toBe('answered')
    await recorded(house)
    // What is left does not cover the longest answer any more.
    const calls = house.calls()
    expect(await house.outcome(444, group, `${ME} and now?`)).toBe('failed')
    const stops = () => house.texts(group).filter((text) => STOP.test(text))
    await expect.poll(stops, POLL).toHaveLength(1)
    expect(await house.outcome(444, group, `${ME} again?`)).toBe('failed')
    expect(await house.outcome(111, group, `${ME} for me?`)).toBe('failed')
    expect(house.calls()).toBe(calls)
    expect(house.texts(group).filter((text) => text.startsWith('Of my budget'))).toHaveLength(1)
    await house.restart()
    const hit = /day: [\d,]+ of 2,900 tokens; begins anew on 2026-11-27 at 00:00 \(UTC\); a call did not fit$/m
    expect(await house.ask(111, 111, '/budget')).toMatch(hit)
    expect((await house.daemon.operator.status()).budgets).toMatchObject([{ words: expect.stringMatching(hit) }])
    expect(await house.outcome(111, group, `${ME} and after a restart?`)).toBe('failed')
    expect(stops()).toHaveLength(1)
    // Another chat has its own, and the owner's is none of it.
    expect(await house.ask(111, 111, 'hello')).toBe('fine')
    clock.set('2026-11-27T00:00:00Z')
    expect(await house.ask(444, group, `${ME} good morning`)).toBe('fine')
  })

  it('C33: what is spent of a budget is in the status, and that a call did not fit', async () => {
    const house = await startHouse({ chat: { each: { day: { tokens: 900 } } }, warnAt: 1 }, { clock: setClock(NOON) })
    expect(await house.outcome(444, house.group, `${ME} hello`)).toBe('answered')
    await recorded(house)
    const spent = expect.stringMatching(/, day: 500 of 900 tokens; begins anew on [^;]*$/)
    expect((await house.daemon.operator.status()).budgets).toMatchObject([{ words: spent }])
    expect(await house.outcome(444, house.group, `${ME} and now?`)).toBe('failed')
    const words = expect.stringMatching(/, day: 500 of 900 tokens; begins anew on .*; a call did not fit$/)
    expect((await house.daemon.operator.status()).budgets).toMatchObject([{ words }])
  })

  it('C33, F-C07: that a call did not fit is still said of a group that has become a supergroup', async () => {
    const log = new AwaitedLog()
    const chat = { each: { day: { tokens: 900 } } }
    const house = await startHouse({ chat, warnAt: 1 }, { clock: setClock(NOON), logger: log })
    for (const outcome of ['answered', 'failed'])
      expect(await house.outcome(444, house.group, `${ME} hello`)).toBe(outcome)
    const { id } = house.telegram.world.migrate(house.group)
    await log.line('A group has a new id; change it in the configuration where it is named')
    const words = expect.stringMatching(
      new RegExp(`^chat telegram:group:${id}, day: 500 of 900 tokens; begins anew on .*; a call did not fit$`),
    )
    expect((await house.daemon.operator.status()).budgets).toMatchObject([{ words }])
  })

  it('C33: a budget that no call fits is in the status and in /budget, though nothing of it is used', async () => {
    const house = await startHouse({ chat: { each: { day: { tokens: 100 } } } }, { clock: setClock(NOON) })
    expect(await house.outcome(444, house.group, `${ME} hello`)).toBe('failed')
    const line = `chat telegram:group:${house.group}, day: 0 of 100 tokens; begins anew on 2026-11-27 at 00:00 (UTC); a call did not fit`
    expect((await house.daemon.operator.status()).budgets).toMatchObject([{ words: line }])
    expect(await house.ask(111, 111, '/budget')).toContain(`Others:\n• ${line}`)
  })

  it('C33: of several budgets that a call did not fit at once, each says so', async () => {
    const day = { day: { tokens: 900 } }
    const house = await startHouse(
      { chat: { each: { ...day, month: { tokens: 800 } } }, total: day, warnAt: 1 },
      { clock: setClock(NOON) },
    )
    for (const outcome of ['answered', 'failed'])
      expect(await house.outcome(444, house.group, `${ME} hello`)).toBe(outcome)
    const words = ((await house.daemon.operator.status()).budgets ?? []).map((one) => one.words)
    expect(words).toHaveLength(3)
    for (const one of words) expect(one).toMatch(/; a call did not fit$/)
  })

  it('C33: one whose limit was raised is another one, of which is said once more that it is used up', async () => {
    const of = (tokens: number) => ({ chat: { each: { day: { tokens } } }, warnAt: 1 })
    const house = await startHouse(of(900), { clock: setClock(NOON) })
    const stops = () => house.texts(house.group).filter((text) => STOP.test(text)).length
    const outcomes: unknown[] = []
    const say = async () => outcomes.push(await house.outcome(444, house.group, `${ME} hello`))
    for (const _ of [1, 2, 3]) await say()
    expect([outcomes, stops()]).toEqual([['answered', 'failed', 'failed'], 1])
    await house.restart({ budgets: { timezone: 'UTC', prices: PRICES, ...of(1_400) } })
    for (const _ of [1, 2, 3]) await say()
    expect(outcomes.slice(3)).toEqual(['answered', 'failed', 'failed'])
    expect(stops()).toBe(2)
  })

  it('C33: that a call was too long for the whole of it keeps nobody from being told that it is used up', async () => {
    const house = await startHouse({ chat: { each: { day: { tokens: 600 } } }, warnAt: 1 }, { clock: setClock(NOON) })
    expect(await house.ask(444, 444, LONG)).toMatch(/^My budget for this chat .* is smaller than/)
    await house.ask(444, 444, '/new')
    expect(await house.outcome(444, 444, 'hello')).toBe('answered')
    for (const _ of [1, 2]) expect(await house.outcome(444, 444, 'hello')).toBe('failed')
    expect(house.texts(444).filter((text) => STOP.test(text))).toHaveLength(1)
  })

  it('C33: why says which was hit and when it begins anew', async () => {
    const house = await startHouse({ chat: { each: { day: { tokens: 100 } } } }, { clock: setClock(NOON) })
    const { group } = house
    const id = house.say(444, group, `${ME} hello`)
    await expect
      .poll(() => house.texts(group), POLL)
      .toEqual(['My budget for this chat for today is smaller than one answer may cost; my owner can raise it.'])
    const words = `chat telegram:group:${group}, day: 0 of 100 tokens; begins anew on 2026-11-27 at 00:00 (UTC)`
    const [report] = await house.daemon.operator.why(String(id))
    expect(report).toMatchObject({ outcome: 'failed', failure: { code: 'budget_spent' } })
    expect(report?.budget).toBe(`${words}; the whole of it is less than one call may cost`)
    expect(report?.summary).toMatch(/^Not answered: a budget is used up \(chat .*; the setting budgets changes that\.$/)
    expect(house.calls()).toBe(0)
  })

  it('F-C07: that the file has for a group by its former id holds after it has become a supergroup', async () => {
    const only = { 'telegram:group:-2001': { day: { tokens: 100 } } }
    const house = await startHouse({ chat: { only } }, { clock: setClock(NOON) })
    const { world } = house.telegram
    world.addChat({ type: 'group', title: 'Garden', id: -2001, members: [111, 444] })
    expect(await house.ask(444, -2001, `${ME} hello`)).toContain('My budget for this chat')
    const { id } = world.migrate(-2001)
    expect(await house.outcome(444, id, `${ME} hello`)).toBe('failed')
    expect(house.calls()).toBe(0)
  })

  it('C33: the warning is said once in the place, also over a restart, and /budget shows what is left to whom', async () => {
    const house = await startHouse(
      { chat: { each: { day: { tokens: 5_000 } } }, warnAt: 0.2 },
      { clock: setClock(NOON) },
    )
    const { group } = house
    const warnings = () => house.texts(group).filter((text) => text.startsWith('Of my budget for this chat'))
    expect(await house.outcome(444, group, `${ME} hello`)).toBe('answered')
    expect(warnings()).toEqual([])
    expect(await house.outcome(444, group, `${ME} hello`)).toBe('answered')
    await expect.poll(warnings, POLL).toHaveLength(1)
    expect(warnings()[0]).toBe(
      'Of my budget for this chat for today, 1,000 of 5,000 tokens is used. It begins anew on 2026-11-27 at 00:00 (UTC).',
    )
    await house.restart()
    expect(await house.outcome(444, group, `${ME} hello`)).toBe('answered')
    expect(await house.outcome(444, group, `${ME} hello`)).toBe('answered')
    expect(warnings()).toHaveLength(1)
    const words = `chat telegram:group:${group}, day: 2,000 of 5,000 tokens; begins anew on 2026-11-27 at 00:00 (UTC)`
    expect(await house.ask(111, 111, '/budget')).toBe(
      `Budgets here:\n• chat telegram:direct:111, day: 0 of 5,000 tokens; begins anew on 2026-11-27 at 00:00 (UTC)\n\nOthers:\n• ${words}`,
    )
    expect(await house.ask(444, 444, '/budget')).toMatch(/^Budgets here:\n• chat telegram:direct:444, day: 0 of 5,000/)
    expect(await house.ask(111, 111, '/status')).toContain(`• budget of ${words}`)
    expect((await house.daemon.operator.status()).budgets).toMatchObject([{ words, period: 'day' }])
  })
})

describe('budgets of people', () => {
  it('C33: one who has nothing left keeps nobody else from an answer, and the total stops everybody', async () => {
    const house = await startHouse(
      { person: { each: { day: { tokens: 1_900 } }, only: { ada: {} } }, total: { month: { tokens: 5_000 } } },
      { clock: setClock(NOON) },
    )
    const { group } = house
    let answered = 0
    while ((await house.outcome(444, group, `${ME} hello`)) === 'answered' && answered < 10) answered++
    expect(answered).toBeGreaterThan(0)
    expect(answered).toBeLessThan(4)
    // The line of the turn that did not fit is sent after its outcome is on record, and would be taken for an answer.
    const own = () => house.texts(group).filter((text) => text.startsWith('My budget for you'))
    await expect.poll(own, POLL).toHaveLength(1)
    expect(await house.ask(111, group, `${ME} hello`)).toBe('fine')
    let more = 0
    while ((await house.outcome(111, group, `${ME} hello`)) === 'answered' && more < 20) more++
    expect((answered + more + 1) * 500).toBeLessThanOrEqual(5_000)
    const told = () => house.texts(group).filter((text) => text.startsWith('My budget as a whole for this month'))
    await expect.poll(told, POLL).toHaveLength(1)
  })

  it('C33: an owner reads of a budget that is used up once in their own chat, and another owner in theirs', async () => {
    const routing = policy({
      people: [owner('ada', 'telegram:111'), owner('bob', 'telegram:444')],
      access: { direct: 'owner', groups: [] },
    })
    const house = await startHouse({ total: { month: { tokens: 5_000 } } }, { clock: setClock(NOON), routing })
    for (const one of [444, 111]) await house.ask(one, one, '/help')
    let answered = 0
    while ((await house.outcome(111, 111, 'hello')) === 'answered' && answered < 10) answered++
    const told = (chat: number) => house.texts(chat).filter((text) => text.startsWith('My budget as a whole'))
    await expect.poll(() => told(444), POLL).toHaveLength(1)
    await expect.poll(() => told(111), POLL).toHaveLength(1)
    expect(await house.ask(111, 111, '/status')).toContain('budget')
    expect(told(111)).toHaveLength(1)
  })

  it('C33: owners read of a budget that a call was too long for, and read all the same that it is used up', async () => {
    const house = await startHouse({ total: { day: { tokens: 600 } }, warnAt: 1 }, { clock: setClock(NOON) })
    await house.ask(111, 111, '/help')
    const told = () => house.texts(111).filter((text) => text.startsWith('My budget as a whole')).length
    expect(await house.ask(444, 444, LONG)).toContain('is smaller than')
    await expect.poll(told, POLL).toBe(1)
    await house.ask(444, 444, '/new')
    expect(await house.outcome(444, 444, 'hello')).toBe('answered')
    for (const _ of [1, 2]) expect(await house.outcome(444, 444, 'hello')).toBe('failed')
    await expect.poll(told, POLL).toBe(2)
  })

  it('C33, F-I12: strangers are bounded one by one and together, whatever the groups they write in, and told once in each', async () => {
    const strangers = { each: { day: { tokens: 1_800 } }, together: { day: { tokens: 6_500 } } }
    const house = await startHouse({ strangers }, { clock: setClock(NOON) })
    const { world } = house.telegram
    const people = Array.from({ length: 10 }, (_, at) => 9_000 + at)
    for (const id of people) world.addUser({ id, firstName: `P${id}` })
    // One person in one group.
    let answered = 0
    while ((await house.outcome(555, house.group, `${ME} hello`)) === 'answered' && answered < 10) answered++
    expect(answered * 500).toBeLessThanOrEqual(1_800)
    expect(await house.outcome(555, house.group, `${ME} hello?`)).toBe('failed')
    const told = () => house.texts(house.group).filter((text) => text.startsWith('My budget for you'))
    await expect.poll(told, POLL).toHaveLength(1)
    // Fifty groups, in each of them somebody who has spent little or nothing.
    const groups = Array.from({ length: 50 }, (_, at) => {
      const members = [111, people[at % people.length] ?? 0]
      return world.addChat({ type: 'group', title: `Group ${at}`, members }).id
    })
    const outcomes: (string | undefined)[] = []
    for (const [at, chat] of groups.entries())
      outcomes.push(await house.outcome(people[at % people.length] ?? 0, chat, `${ME} hello`))
    const made = outcomes.filter((one) => one === 'answered').length
    expect(made).toBeGreaterThan(0)
    expect((answered + made) * 500).toBeLessThanOrEqual(6_500)
    expect(house.calls()).toBe(answered + made)
    const refused = groups.filter((_, at) => outcomes[at] === 'failed')
    for (const chat of refused) await expect.poll(() => house.texts(chat), POLL).toHaveLength(1)
    // Somebody who is known has nothing to do with it.
    expect(await house.ask(444, house.group, `${ME} hello`)).toBe('fine')
  })
})
