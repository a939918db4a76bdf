import { join } from 'node:path'
import { expect, it } from 'vitest'
import { toAgentId } from '../../src/core/ids.ts'
import { type Logger, silentLogger } from '../../src/core/logger.ts'
import { type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { createGate } from '../../src/rehearsal/deferred.ts'
import { sample } from '../sample.ts'
import { withDatabase } from '../store/temp-database.ts'
import { startHousehold } from './household.ts'
import { setClock } from './set-clock.ts'

const main = { id: toAgentId('main'), model: 'anthropic/rehearsal', prompt: 'You are calm.', tools: ['time'] }

it.each(sample(['{broken', '5', '[]', '{}', '{"id":"main","model":"m","prompt":"p","tools":[null]}'], 2))(
  'C31: an agent that a session keeps and that reads %j is refused by name, and no other session is',
  async (profile) => {
    const home = await startHousehold({ script: () => textReply('fine'), config: { agents: [main] } })
    const post = (name: string) => home.daemon.operator.sessions.post(name, { text: 'hello' })
    await Promise.all([post('api:bad'), post('api:good')])
    await home.daemon.stop()
    withDatabase(join(home.dataDir, 'parley.db'), (database) =>
      database.prepare("UPDATE sessions SET agent_profile = ? WHERE id = 'api:bad'").run(profile),
    )
    await home.restart()
    await expect(post('api:bad')).rejects.toMatchObject({ code: 'unreadable' })
    expect(await post('api:good')).toMatchObject({ reply: 'fine' })
  },
)

it.each(sample(['{broken', '{}', '5', '{"answer":false,"because":{}}'], 2))(
  'C31: a verdict of a pre-check that reads %j takes nothing from an explanation but itself',
  async (verdict) => {
    const { daemon, dataDir } = await startHousehold({ script: () => textReply('fine'), config: { agents: [main] } })
    const { traceId } = await daemon.operator.sessions.post('api:a', { text: 'hello' })
    withDatabase(join(dataDir, 'parley.db'), (database) =>
      database.prepare('UPDATE turns SET precheck = ?').run(verdict),
    )
    const [report] = await daemon.operator.why(traceId)
    expect(report).toMatchObject({ outcome: 'answered' })
    expect(report).not.toHaveProperty('precheck')
  },
)

/** A stop waits no longer for a running turn. */
const MOST_DRAIN_MS = 18_000

it.each([
  ['sessions', "UPDATE sessions SET scope = '{}' WHERE display_key LIKE '%group%'"],
  ['sessions', "UPDATE sessions SET kind = 'zz' WHERE display_key LIKE '%group%'"],
  ['turns', "UPDATE turns SET reply = '{bro' WHERE state = 'running'"],
  ['turns', "UPDATE turns SET attempt = 'x' WHERE state = 'running'"],
] as const)(
  'C31: an unreadable row of %s, of what ran when the process died, keeps nobody else from an answer (%s)',
  async (table, damage) => {
    const gate = createGate()
    const script: Script = (request) =>
      JSON.stringify(request.messages).includes('wait for it')
        ? textReply('late', { holds: [{ beforeDelta: 0, gate }] })
        : textReply('fine')
    const clock = setClock('2026-11-26T12:00:00Z')
    const home = await startHousehold({ script, clock, streaming: false, delivery: {}, config: { agents: [main] } })
    const { world, ledger } = home.telegram
    const { id: group } = world.addChat({ type: 'group', title: 'Club', members: [111, 444] })
    world.say({ from: 444, chat: group, text: '@parley_bot wait for it' })
    await gate.reached
    const behind = world.say({ from: 444, chat: group, text: '@parley_bot and this' })
    await expect.poll(async () => (await home.daemon.operator.status()).waiting, { timeout: 20_000 }).toBe(1)
    const drains = clock.timerOf(MOST_DRAIN_MS, 1_000)
    const stopping = home.daemon.stop()
    await drains
    clock.skip(MOST_DRAIN_MS)
    await stopping
    withDatabase(join(home.dataDir, 'parley.db'), (database) => database.exec(damage))
    gate.release()
    const after = ledger.mark()
    await home.restart()
    world.say({ from: 111, text: 'hello' })
    await ledger.nextFromBot('sent', { after, where: ({ chatId, text }) => chatId === 111 && text === 'fine' })
    if (table !== 'turns') return
    const [report] = await home.daemon.operator.why(String(behind.message_id))
    await expect
      .poll(async () => (await home.daemon.operator.why(String(behind.message_id)))[0]?.outcome, { timeout: 20_000 })
      .toBe('answered')
    expect(report).toBeDefined()
  },
)

it.each(sample(['{broken', 'null', '[]', '{"type":"odd"}', '{"event":{"text":5}}'], 2))(
  'C31: a message that waited when the process ended and reads %j is given up by name, and its chat is answered',
  async (dispatch) => {
    const gate = createGate()
    const script: Script = (request) =>
      JSON.stringify(request.messages.at(-1)).includes('wait for it')
        ? textReply('late', { holds: [{ beforeDelta: 0, gate }] })
        : textReply('fine')
    const lines: unknown[] = []
    const logger: Logger = { ...silentLogger, error: (msg, more) => lines.push([msg, more]), child: () => logger }
    const clock = setClock('2026-11-26T12:00:00Z')
    const home = await startHousehold({ script, clock, logger, streaming: false, config: { agents: [main] } })
    const { world, ledger } = home.telegram
    world.say({ from: 111, text: 'wait for it' })
    await gate.reached
    world.say({ from: 111, text: 'and this' })
    await expect.poll(async () => (await home.daemon.operator.status()).waiting, { timeout: 20_000 }).toBe(1)
    const drains = clock.timerOf(MOST_DRAIN_MS, 1_000)
    const stopping = home.daemon.stop()
    await drains
    clock.skip(MOST_DRAIN_MS)
    await stopping
    withDatabase(join(home.dataDir, 'parley.db'), (database) =>
      database.prepare("UPDATE inbox SET dispatch = ? WHERE state = 'waiting'").run(dispatch),
    )
    gate.release()
    const after = ledger.mark()
    await home.restart()
    expect(lines).toContainEqual([expect.stringContaining('given up'), { inbox: [expect.any(String)] }])
    expect((await home.daemon.operator.status()).waiting).toBe(0)
    world.say({ from: 111, text: 'hello' })
    await ledger.nextFromBot('sent', { after, where: ({ text }) => text === 'fine' })
  },
)

it('C6: a last number that lags behind the log is set right by the next event', async () => {
  const home = await startHousehold({ script: () => textReply('fine'), config: { agents: [main] } })
  const post = () => home.daemon.operator.sessions.post('api:a', { text: 'hello' })
  await post()
  await post()
  await home.daemon.stop()
  withDatabase(join(home.dataDir, 'parley.db'), (database) => database.exec('UPDATE session_activity SET last_seq = 1'))
  await home.restart()
  expect(await post()).toMatchObject({ status: 'ok', reply: 'fine' })
  const { events } = await home.daemon.operator.sessions.history('api:a', { limit: 200 })
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, at) => at + 1))
})

it('C31: a record of a chat that moved which cannot be read keeps the daemon from no start', async () => {
  const home = await startHousehold({ script: () => textReply('fine'), config: { agents: [main] } })
  const { world, ledger } = home.telegram
  const { id: group } = world.addChat({ type: 'group', title: 'Club', members: [111, 444] })
  const after = ledger.mark()
  world.say({ from: 111, chat: group, text: '@parley_bot hello' })
  await ledger.nextFromBot('sent', { after })
  const { id: moved } = world.migrate(group)
  const moves = (): number =>
    withDatabase(
      join(home.dataDir, 'parley.db'),
      (database) => database.prepare('SELECT * FROM chat_moves').all().length,
    )
  await expect.poll(moves).toBe(1)
  await home.daemon.stop()
  withDatabase(join(home.dataDir, 'parley.db'), (database) => database.exec("UPDATE chat_moves SET to_chat = x'00'"))
  await home.restart()
  const again = ledger.mark()
  world.say({ from: 111, chat: moved, text: '@parley_bot hello' })
  await ledger.nextFromBot('sent', { after: again, where: ({ chatId }) => chatId === moved })
})

it('C31: a received message that cannot be read keeps nobody from an answer whose message has its number in another group', async () => {
  const home = await startHousehold({ script: () => textReply('fine'), config: { agents: [main] } })
  const { world, ledger } = home.telegram
  const add = (title: string) => world.addChat({ type: 'group', title, members: [111, 444] }).id
  const [one, other] = [add('Club'), add('Choir')]
  const after = ledger.mark()
  const { message_id: first } = world.say({ from: 111, chat: one, text: '@parley_bot hello' })
  await ledger.nextFromBot('sent', { after })
  await home.daemon.stop()
  withDatabase(join(home.dataDir, 'parley.db'), (database) => database.exec("UPDATE inbox SET dispatch = '{broken'"))
  await home.restart()
  const again = ledger.mark()
  const said = world.say({ from: 111, chat: other, text: '@parley_bot hello' })
  expect(said.message_id).toBe(first)
  await ledger.nextFromBot('sent', { after: again, where: ({ chatId }) => chatId === other })
})

const BUDGETS = [
  "UPDATE budget_counts SET tokens = 'x', ends_at = 'x'",
  'UPDATE budget_counts SET micros = -1, held_tokens = 0.5',
  `INSERT INTO budget_holds VALUES ('1-1', 1, 5, 5, '{broken'), (x'00', 0.5, 'x', 5, '{"keys":[{}]}')`,
]
it.each(sample(BUDGETS, 2))(
  'C31: rows of budgets that were damaged keep the daemon from no start and nobody from an answer: %s',
  async (damage) => {
    const budgets = { timezone: 'UTC', warnAt: 1, prices: {}, total: { day: { tokens: 1_000_000 } } }
    const home = await startHousehold({ script: () => textReply('fine'), config: { agents: [main], budgets } })
    const post = () => home.daemon.operator.sessions.post('api:a', { text: 'hello' })
    expect(await post()).toMatchObject({ reply: 'fine' })
    const path = join(home.dataDir, 'parley.db')
    await home.daemon.stop()
    withDatabase(path, (database) => database.exec(damage))
    await home.restart()
    expect(await post()).toMatchObject({ reply: 'fine' })
    await home.daemon.stop()
    const [holds, counts] = withDatabase(path, (database) => [
      database.prepare('SELECT id FROM budget_holds').all(),
      database.prepare('SELECT typeof(tokens) AS type, held_tokens FROM budget_counts').all(),
    ])
    expect([holds, counts]).toEqual([[], [{ type: 'integer', held_tokens: 0 }]])
    await home.restart()
  },
)

it.each([
  "json_remove(definition, '$.timezone')",
  "json_set(definition, '$.timezone', 'undefined')",
  "json_set(definition, '$.timezone', 'Etc/Unknown')",
])('a reminder that was made on a machine without a time zone is in that of the machine (%s)', async (definition) => {
  const home = await startHousehold()
  const said = async (text: string): Promise<string> => {
    const after = home.telegram.ledger.mark()
    home.telegram.world.say({ from: 111, text })
    return (await home.telegram.ledger.nextFromBot('sent', { after })).text
  }
  await said('/remind every day at 9 water the plants')
  await home.daemon.stop()
  withDatabase(join(home.dataDir, 'parley.db'), (database) =>
    database.prepare(`UPDATE schedules SET definition = ${definition}`).run(),
  )
  await home.restart()
  const list = await said('/remind')
  expect(list).toContain('water the plants')
  expect(list).not.toMatch(/undefined|Unknown/)
})
