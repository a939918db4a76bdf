import { join } from 'node:path'
import { expect, it, vi } from 'vitest'
import type { Config } from '../../src/config/config.ts'
import type { RoutingPolicy } from '../../src/core/policy.ts'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { createGate } from '../../src/rehearsal/deferred.ts'
import type { PublicTurnLimits } from '../../src/sessions/turns/public-turns.ts'
import { openConnection } from '../../src/store/engines/sqlite-connection.ts'
import { member, owner, policy } from '../fakes/routing-policy.ts'
import { removeTempFolders, tempFolder } from '../store/temp-database.ts'
import { type Household, type HouseholdOptions, startHousehold } from './household.ts'

removeTempFolders()

/** Anybody may write: two turns of strangers at once, three more wait. What they ask is answered once the gate opens. */
async function open(
  queue: Config['session']['queue'] = { max: 100, busy: 'queue' },
  routing: Partial<RoutingPolicy> = {},
) {
  const gate = createGate()
  const path = join(tempFolder(), 'parley.db')
  const script: Script = (request) => {
    const text = lastUserText(request)
    return textReply(`heard ${text}`, text.includes('stranger') ? { holds: [{ beforeDelta: 0, gate }] } : {})
  }
  const house = await startHousehold({
    script,
    streaming: false,
    routing: policy({
      people: [owner('ada', 'telegram:111'), member('bob', 'telegram:444')],
      access: { direct: 'public', groups: [{ match: {}, who: 'public', trigger: 'mention' }] },
      ...routing,
    }),
    config: { session: { queue, publicTurns: { atOnce: 2, perPerson: 1, waiting: 3 } }, store: { path } },
  })
  /** Looks into the database beside the daemon. */
  const count = (what: string): number => {
    const connection = openConnection(path)
    const row = connection.get(`SELECT COUNT(*) AS count FROM ${what}`, [])
    connection.close()
    return Number(row?.count)
  }
  return { house, gate, count }
}

const asked = ({ anthropic }: Household): readonly string[] => (anthropic?.ledger.requests() ?? []).map(lastUserText)

const sent = ({ telegram }: Household, chat: number, words: string) =>
  telegram.ledger.nextFromBot('sent', {
    where: (one) => one.chatId === chat && one.text.includes(words),
    timeoutMs: 20_000,
  })

it('strangers have so many turns at once, a few wait, the others get one line, and nobody known waits', async () => {
  const { house, gate } = await open()
  const { telegram, daemon } = house
  const ids = Array.from({ length: 12 }, (_, index) => 9_000 + index)
  for (const id of ids) telegram.world.addUser({ id, firstName: 'Stranger' })
  const said = ids.map((from) => telegram.world.say({ from, text: `stranger ${from}` }))
  const last = ids.at(-1) ?? 0
  const again = telegram.world.say({ from: last, text: `stranger ${last} again` })
  await sent(house, last, 'as many people as I can')
  await telegram.ledger.confirmed(telegram.ledger.updateIdOf(again))

  telegram.world.say({ from: 111, text: 'are you there?' })
  await sent(house, 111, 'heard are you there?')
  telegram.world.say({ from: 444, text: 'and for me?' })
  await sent(house, 444, 'heard and for me?')
  expect(asked(house).filter((text) => text.includes('stranger'))).toHaveLength(2)
  const lines = ids.flatMap((id) => telegram.world.messages(id, { by: 'bot' }))
  expect(lines.every(({ message }) => message.text?.includes('as many people as I can'))).toBe(true)
  expect(telegram.world.messages(last, { by: 'bot' })).toHaveLength(1)

  gate.release()
  for (const id of ids.slice(0, 5)) await sent(house, id, `heard stranger ${id}`)
  const outcomes = await Promise.all(
    said.map(async ({ message_id }, index) => {
      const rows = await daemon.operator.why(String(message_id))
      return rows.find(({ sender }) => sender.id === String(ids[index]))?.outcome
    }),
  )
  expect(outcomes.filter((outcome) => outcome === 'refused: public_full')).toHaveLength(7)
  telegram.world.say({ from: last, text: 'one stranger less' })
  await sent(house, last, 'heard one stranger less')
}, 60_000)

it('a turn of a stranger that waits begins at once when somebody known waits behind it', async () => {
  const { house, gate } = await open()
  const { telegram } = house
  for (const id of [9_001, 9_002, 9_003]) telegram.world.addUser({ id, firstName: 'Stranger' })
  const { id: chat } = telegram.world.addChat({ type: 'supergroup', title: 'Club', members: [444, 9_003] })
  for (const from of [9_001, 9_002]) telegram.world.say({ from, text: `stranger ${from}` })
  const waits = telegram.world.say({ from: 9_003, chat, text: '@parley_bot stranger 9003' })
  await telegram.ledger.confirmed(telegram.ledger.updateIdOf(waits))
  await house.anthropic?.ledger.collect(2, ({ kind }) => kind === 'accepted')
  expect(asked(house).some((text) => text.includes('9003'))).toBe(false)
  telegram.world.say({ from: 444, chat, text: '@parley_bot and me?' })
  await house.anthropic?.ledger.nextAccepted({ where: (request) => lastUserText(request).includes('9003') })
  gate.release()
  await sent(house, chat, 'and me?')
}, 60_000)

it('what no turn of a stranger will answer is kept without words and in no session', async () => {
  const { house, gate, count } = await open({ max: 4, busy: 'queue' })
  const { telegram } = house
  const ids = [9_001, 9_002, 9_003, 9_004, 9_005, 9_006]
  for (const id of ids) telegram.world.addUser({ id, firstName: 'Stranger' })
  telegram.world.say({ from: 9_001, text: 'stranger 9001' })
  await house.anthropic?.ledger.nextAccepted()
  for (let nth = 0; nth < 6; nth++) telegram.world.say({ from: 9_001, text: 'a flood of words' })
  for (const from of ids.slice(1)) telegram.world.say({ from, text: `stranger ${from} has words` })
  const [, , , , , last = 0] = ids
  await sent(house, last, 'as many people as I can')
  const refused = "inbox WHERE outcome IN ('refused: queue_full', 'refused: public_full')"
  expect(count(refused)).toBe(5)
  expect(count(`${refused} AND (session_id IS NOT NULL OR dispatch LIKE '%words%')`)).toBe(0)
  expect(count("events WHERE data LIKE '%a flood of words%'")).toBe(2)
  gate.release()
  await sent(house, 9_001, 'a flood of words')
}, 60_000)

it('what a stranger makes of a message by edits is kept once, and not at all where the message is not known', async () => {
  const { house, gate, count } = await open()
  const { telegram } = house
  gate.release()
  for (const id of [9_001, 9_002]) telegram.world.addUser({ id, firstName: 'Stranger' })
  const heard = telegram.world.say({ from: 9_001, text: 'stranger 9001' })
  await sent(house, 9_001, 'heard')
  const edited = async (message: number, edits: number): Promise<void> => {
    telegram.world.edit({ chat: 9_001, message, text: 'other words' })
    await vi.waitFor(() => expect(count(`inbox WHERE dispatch LIKE '%"kind":"edit"%'`)).toBe(edits), 20_000)
  }
  await edited(heard.message_id, 1)
  expect(count("events WHERE data LIKE '%other words%'")).toBe(1)
  const command = telegram.world.say({ from: 9_001, text: '/whoami' })
  await edited(command.message_id, 2)
  expect(count("inbox WHERE dispatch LIKE '%other words%'")).toBe(0)
}, 60_000)

it('a stranger interrupts nobody else', async () => {
  const { house, gate } = await open({ max: 100, busy: 'interrupt' })
  const { telegram } = house
  for (const id of [9_001, 9_002]) telegram.world.addUser({ id, firstName: 'Stranger' })
  const { id: chat } = telegram.world.addChat({ type: 'supergroup', title: 'Club', members: [111, 9_001, 9_002] })
  const told = async (said: { readonly message_id: number }): Promise<void> =>
    void (await telegram.ledger.confirmed(telegram.ledger.updateIdOf(said as never)))
  telegram.world.say({ from: 111, chat, text: '@parley_bot a stranger?' })
  await house.anthropic?.ledger.nextAccepted()
  await told(telegram.world.say({ from: 9_001, chat, text: '@parley_bot one word' }))
  await told(telegram.world.say({ from: 9_002, chat, text: '@parley_bot another' }))
  gate.release()
  await sent(house, chat, 'a stranger?')
  await sent(house, chat, 'another')
}, 60_000)

it('what somebody known says goes before what strangers said in other chats of the same conversation', async () => {
  const { house, gate } = await open({ max: 100, busy: 'queue' }, { dimensions: [] })
  const { telegram } = house
  telegram.world.addUser({ id: 9_001, firstName: 'Stranger' })
  const clubs = ['Red', 'Blue'].map((title) =>
    telegram.world.addChat({ type: 'supergroup', title, members: [111, 9_001] }),
  )
  const say = async (from: number, text: string, chat?: number): Promise<void> => {
    const said = telegram.world.say({ from, text, ...(chat === undefined ? {} : { chat }) })
    await telegram.ledger.confirmed(telegram.ledger.updateIdOf(said))
  }
  const [red = 0, blue = 0] = clubs.map(({ id }) => id)
  await say(9_001, '@parley_bot a first stranger', red)
  await house.anthropic?.ledger.nextAccepted()
  for (let nth = 1; nth <= 4; nth++) {
    await say(9_001, `@parley_bot red ${nth}`, red)
    await say(9_001, `@parley_bot blue ${nth}`, blue)
  }
  await say(111, 'and now me')
  gate.release()
  await sent(house, 111, 'and now me')
  await sent(house, blue, 'blue 4')
  const order = asked(house).map((text) => /red \d|blue \d|now me/.exec(text)?.[0])
  expect(order.slice(0, 4)).toEqual([undefined, 'now me', 'red 1', 'blue 1'])
}, 60_000)

it('a stranger does not interrupt the turn that answers them and another stranger', async () => {
  const { house, gate, count } = await open({ max: 100, busy: 'interrupt' })
  const { telegram } = house
  for (const id of [9_001, 9_002]) telegram.world.addUser({ id, firstName: 'Stranger' })
  const { id: chat } = telegram.world.addChat({ type: 'supergroup', title: 'Club', members: [9_001, 9_002] })
  const say = async (from: number, text: string): Promise<void> => {
    const said = telegram.world.say({ from, chat, text: `@parley_bot ${text}` })
    await telegram.ledger.confirmed(telegram.ledger.updateIdOf(said))
  }
  await say(9_001, 'a first stranger')
  await house.anthropic?.ledger.nextAccepted()
  await say(9_002, 'a question of one stranger')
  // Ends the turn that is theirs alone; the next one answers both.
  await say(9_001, 'a question of another stranger')
  await house.anthropic?.ledger.nextAccepted({ where: (request) => lastUserText(request).includes('another') })
  await say(9_001, 'and one more thing')
  await vi.waitFor(() => expect(count("inbox WHERE state = 'waiting'")).toBe(1), 20_000)
  gate.release()
  await sent(house, chat, 'a question of one stranger')
  await sent(house, chat, 'and one more thing')
}, 60_000)

it('a turn of a stranger that waits when the daemon stops is not begun, and goes on at the next start', async () => {
  const { house, gate, count } = await open()
  const { telegram } = house
  const ids = [9_001, 9_002, 9_003, 9_004, 9_005]
  for (const id of ids) telegram.world.addUser({ id, firstName: 'Stranger' })
  for (const from of ids) telegram.world.say({ from, text: `stranger ${from}` })
  await vi.waitFor(() => expect(count("turns WHERE state = 'running' AND attempt = 1")).toBe(5), 20_000)
  await house.anthropic?.ledger.collect(2, ({ kind }) => kind === 'accepted')
  const restarted = house.restart()
  await vi.waitFor(() => expect(count("turns WHERE state = 'running' AND attempt = 0")).toBe(3), 5_000)
  expect(asked(house)).toHaveLength(2)
  gate.release()
  await restarted
  for (const id of ids) await sent(house, id, `heard stranger ${id}`)
  expect(asked(house)).toHaveLength(5)
}, 60_000)

/** What Telegram takes from one bot. */
const TELEGRAM = { perSecond: 30, perChatPerSecond: 1, perGroupPerMinute: 20 }

async function crowdOf(
  count: number,
  publicTurns: PublicTurnLimits,
  more: Pick<HouseholdOptions, 'limits' | 'script'> = {},
): Promise<Household> {
  const house = await startHousehold({
    ...{ limits: TELEGRAM, ...more },
    routing: policy({ people: [owner('ada', 'telegram:111')], access: { direct: 'public', groups: [] } }),
    config: { session: { queue: { max: 100, busy: 'queue' }, publicTurns } },
  })
  const { telegram } = house
  telegram.world.say({ from: 111, text: 'hello' })
  await sent(house, 111, 'echo hello')
  const ids = Array.from({ length: count }, (_, index) => 9_000 + index)
  for (const id of ids) telegram.world.addUser({ id, firstName: 'Stranger' })
  const said = ids.map((from) => telegram.world.say({ from, text: 'a question' }))
  await Promise.all(said.map((one) => telegram.ledger.confirmed(telegram.ledger.updateIdOf(one))))
  return house
}

/** Answers to strangers that left before the owner's next one. */
async function answersBefore(house: Household, words: string): Promise<number> {
  const { ledger, world } = house.telegram
  const mark = ledger.mark()
  world.say({ from: 111, text: words })
  await sent(house, 111, `echo ${words}`)
  return ledger.count((entry) => entry.kind === 'message' && entry.text.includes('echo a question'), mark)
}

it("the owner's answer goes before those to strangers that wait to be sent, after a restart too", async () => {
  const gate = createGate()
  const script: Script = (request) => {
    const text = lastUserText(request)
    return textReply(`echo ${text}`, text === 'a question' ? { holds: [{ beforeDelta: 0, gate }] } : {})
  }
  // All are answered at once, and slowly sent, so that most wait on a busy machine too.
  const limits = { ...TELEGRAM, perSecond: 10 }
  const house = await crowdOf(60, { atOnce: 1000, perPerson: 1, waiting: 1000 }, { limits, script })
  const { ledger } = house.anthropic ?? expect.unreachable()
  await ledger.collect(60, (entry) => entry.kind === 'accepted' && lastUserText(entry.request) === 'a question')
  gate.release()
  await vi.waitFor(
    async () => expect((await house.daemon.operator.status()).outbox.planned).toBeGreaterThan(25),
    20_000,
  )
  expect(await answersBefore(house, 'are you there?')).toBeLessThan(15)
  await house.restart()
  expect(await answersBefore(house, 'still there?')).toBeLessThan(15)
  await sent(house, 9_059, 'echo a question')
}, 60_000)

it('strangers are refused while many answers to them wait to be sent', async () => {
  const house = await crowdOf(600, { atOnce: 1000, perPerson: 1, waiting: 1000 })
  const { outbox } = await house.daemon.operator.status()
  expect((outbox.planned ?? 0) + (outbox.waiting ?? 0)).toBeLessThan(400)
}, 60_000)

it('an answer that waits for a slot is in its turn once somebody known has joined the turn of a stranger', async () => {
  const gate = createGate()
  const script: Script = (request) => {
    const slow = lastUserText(request).endsWith('slow')
    const clock = { type: 'tool_use', name: 'current_time', input: {} } as const
    if (slow) return { blocks: [clock], holds: [{ beforeDelta: 0, gate }] }
    return textReply(JSON.stringify(request.messages).includes('slow') ? 'heard both' : 'hello')
  }
  const house = await startHousehold({
    script,
    streaming: false,
    // Of the three slots of a chat, which do not come again, what has low priority leaves two.
    limits: { perSecond: 1_000, perChatPerSecond: 0.01, perGroupPerMinute: 1_000 },
    routing: policy({
      people: [owner('ada', 'telegram:111')],
      access: { direct: 'public', groups: [{ match: {}, who: 'public', trigger: 'mention' }] },
    }),
    config: { session: { queue: { max: 100, busy: 'steer' } } },
  })
  const { telegram } = house
  telegram.world.addUser({ id: 9_001, firstName: 'Stranger' })
  const { id: chat } = telegram.world.addChat({ type: 'supergroup', title: 'Club', members: [111, 9_001] })
  telegram.world.say({ from: 111, chat, text: '@parley_bot good day' })
  await sent(house, chat, 'hello')
  telegram.world.say({ from: 9_001, chat, text: '@parley_bot slow' })
  await gate.reached
  const joined = telegram.world.say({ from: 111, chat, text: '@parley_bot and me?' })
  await telegram.ledger.confirmed(telegram.ledger.updateIdOf(joined))
  gate.release()
  await sent(house, chat, 'heard both')
}, 60_000)

it('a turn of a stranger begins at once where whoever is known is stored with it in one commit', async () => {
  const [first, alone] = [createGate(), createGate()]
  const path = join(tempFolder(), 'parley.db')
  const script: Script = (request) => {
    const text = lastUserText(request)
    const gate = text.includes('the first') ? first : text.includes('alone') ? alone : undefined
    return textReply(`heard ${text}`, gate ? { holds: [{ beforeDelta: 0, gate }] } : {})
  }
  const house = await startHousehold({
    script,
    streaming: false,
    routing: policy({
      people: [owner('ada', 'telegram:111')],
      access: { direct: 'public', groups: [{ match: {}, who: 'public', trigger: 'mention' }] },
    }),
    config: {
      session: { queue: { max: 100, busy: 'queue' }, publicTurns: { atOnce: 1, perPerson: 1, waiting: 4 } },
      store: { path },
    },
  })
  const { telegram } = house
  for (const id of [9_001, 9_002, 9_003]) telegram.world.addUser({ id, firstName: 'Stranger' })
  const { id: chat } = telegram.world.addChat({ type: 'supergroup', title: 'Club', members: [111, 9_001, 9_002] })
  telegram.world.say({ from: 9_001, chat, text: '@parley_bot the first' })
  await first.reached
  telegram.world.say({ from: 9_002, chat, text: '@parley_bot the second' })
  const last = telegram.world.say({ from: 9_003, text: 'alone' })
  await telegram.ledger.confirmed(telegram.ledger.updateIdOf(last))
  // What is written meanwhile is committed together.
  const other = openConnection(path)
  other.exec('BEGIN IMMEDIATE')
  first.release()
  await alone.reached
  const mark = telegram.ledger.mark()
  telegram.world.say({ from: 111, chat, text: '@parley_bot and me?' })
  await telegram.ledger.next(({ kind }) => kind === 'delivered', { after: mark })
  await house.daemon.operator.status()
  other.exec('COMMIT')
  other.close()
  await sent(house, chat, 'and me?')
  alone.release()
}, 60_000)

it('what others are doing in a group a stranger neither stops nor starts over, and their own they stop', async () => {
  const { house, gate } = await open()
  const { telegram } = house
  for (const id of [9_001, 9_002]) telegram.world.addUser({ id, firstName: 'Stranger' })
  const { id: chat } = telegram.world.addChat({ type: 'supergroup', title: 'Club', members: [111, 9_001, 9_002] })
  const tell = async (from: number, text: string, words: string): Promise<void> => {
    const mark = telegram.ledger.mark()
    telegram.world.say({ from, chat, text })
    await telegram.ledger.nextFromBot('sent', {
      after: mark,
      where: (one) => one.text.includes(words),
      timeoutMs: 20_000,
    })
  }
  telegram.world.say({ from: 111, chat, text: '@parley_bot a stranger?' })
  await house.anthropic?.ledger.nextAccepted()
  await tell(9_001, '/stop@parley_bot', 'Only people')
  await tell(9_001, '/new@parley_bot', 'Only people')
  gate.release()
  await sent(house, chat, 'a stranger?')
  expect(asked(house)).toHaveLength(1)
}, 60_000)

it('a stranger stops their own turn in a group, and drops nothing that others wait for', async () => {
  const { house, gate } = await open()
  const { telegram } = house
  for (const id of [9_001, 9_002]) telegram.world.addUser({ id, firstName: 'Stranger' })
  const { id: chat } = telegram.world.addChat({ type: 'supergroup', title: 'Club', members: [9_001, 9_002] })
  telegram.world.say({ from: 9_001, chat, text: '@parley_bot a stranger asks' })
  await house.anthropic?.ledger.nextAccepted()
  const waits = telegram.world.say({ from: 9_002, chat, text: '@parley_bot and I' })
  await telegram.ledger.confirmed(telegram.ledger.updateIdOf(waits))
  telegram.world.say({ from: 9_002, chat, text: '/stop@parley_bot' })
  await sent(house, chat, 'Only people')
  telegram.world.say({ from: 9_001, chat, text: '/stop@parley_bot' })
  await sent(house, chat, 'Stopped.')
  await sent(house, chat, 'and I')
  gate.release()
}, 60_000)
