import { once } from 'node:events'
import { request } from 'node:http'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { createGate } from '../../src/rehearsal/deferred.ts'
import { openConnection } from '../../src/store/engines/sqlite-connection.ts'
import { removeTempFolders, tempFolder } from '../store/temp-database.ts'
import { type Household, recorded, startHousehold } from './household.ts'

removeTempFolders()

const BOB = 444

/** Ada and Bob have talked to the bot, each in private; then `sql` was run on the database of the stopped daemon. */
async function householdWith(sql: string) {
  const path = join(tempFolder(), 'parley.db')
  const of = await startHousehold({ config: { store: { path } }, streaming: false })
  const { world, ledger } = of.telegram
  const answered = async (from: number, text: string): Promise<void> => {
    const mark = ledger.mark()
    world.say({ from, text })
    await ledger.nextFromBot('sent', { after: mark, where: (entry) => entry.text === `echo ${text}` })
  }
  await answered(111, 'hello')
  await answered(BOB, 'hello')
  await of.daemon.stop()
  const connection = openConnection(path)
  expect(connection.run(sql, [])).toBe(1)
  connection.close()
  await of.restart()
  return { of, answered }
}

const OF_ADA = "WHERE display_key = 'telegram:direct:111'"

test('C31: a conversation whose row cannot be read is refused, and nobody else waits behind it', async () => {
  const { of, answered } = await householdWith(`UPDATE sessions SET kind = 'nonsense' ${OF_ADA}`)
  const { world, ledger } = of.telegram
  const mark = ledger.mark()
  world.say({ from: 111, text: 'are you there?' })
  await ledger.nextFromBot('sent', { after: mark, where: ({ text }) => text.includes('cannot be read') })
  await answered(BOB, 'and me?')
  await recorded(of)
  const { channels } = await of.daemon.operator.status()
  expect(channels.map(({ status }) => status)).toEqual(['up'])
  expect(ledger.count((entry) => entry.kind === 'poll')).toBeLessThan(50)
})

test('R5: one damaged session is left out of a list, and loading it gives a typed error', async () => {
  const { of } = await householdWith(`UPDATE sessions SET metadata = '{"half' ${OF_ADA}`)
  const { sessions } = of.daemon.operator
  const all = await sessions.list({ limit: 50, offset: 0, inactive: true })
  expect([all.total, all.sessions.map(({ key }) => key)]).toEqual([1, ['telegram:direct:444']])
  await expect(sessions.show('telegram:direct:111')).rejects.toMatchObject({ code: 'unreadable' })
  await expect(sessions.history('telegram:direct:111', { limit: 50 })).rejects.toMatchObject({ code: 'unreadable' })
  expect(await sessions.show('telegram:direct:444')).toMatchObject({ messages: expect.any(Number) })
  const key = encodeURIComponent('telegram:direct:111')
  expect(await answerOf(of, `/v1/sessions/${key}`)).toMatchObject({
    error: { code: 'unreadable', message: expect.stringContaining('of table sessions cannot be read') },
  })
})

/** The answer of the local API of the daemon. */
async function answerOf({ dataDir }: Household, path: string): Promise<unknown> {
  const call = request({ socketPath: join(dataDir, 'parley.sock'), path, agent: false })
  call.end()
  const [response] = await once(call, 'response')
  let body = ''
  for await (const chunk of response) body += chunk
  return JSON.parse(body)
}

test.each(["thinking_level = 'max'", "settings = '{'", 'settings = \'{"voice":"loud"}\''])(
  'a setting that this version cannot read counts as not set: %s',
  async (change) => {
    const { answered } = await householdWith(`UPDATE sessions SET ${change} ${OF_ADA}`)
    await answered(111, 'still there?')
  },
)

test('a send policy that this version cannot read keeps the conversation silent', async () => {
  const { of, answered } = await householdWith(`UPDATE sessions SET send_override = 'whisper' ${OF_ADA}`)
  of.telegram.world.say({ from: 111, text: 'hush' })
  await answered(BOB, 'hello again')
  await recorded(of)
  const texts = of.telegram.ledger.entries.filter((entry) => entry.kind === 'message' && 'text' in entry)
  expect(texts.some((entry) => 'text' in entry && entry.text === 'echo hush')).toBe(false)
})

test('C31: an answer that was made is sent, although the row of its session was damaged while it was made', async () => {
  const gate = createGate()
  const path = join(tempFolder(), 'parley.db')
  const script: Script = (request) => {
    const text = lastUserText(request)
    return textReply(`heard ${text}`, text === 'one' ? { holds: [{ beforeDelta: 0, gate }] } : {})
  }
  const of = await startHousehold({ script, streaming: false, config: { store: { path } } })
  const { world, ledger } = of.telegram
  world.say({ from: 111, text: 'one' })
  await gate.reached
  world.say({ from: 111, text: 'two' })
  await expect.poll(async () => (await of.daemon.operator.status()).waiting).toBe(1)
  const connection = openConnection(path)
  connection.run("UPDATE sessions SET metadata = '{broken'", [])
  connection.close()
  const sent = ledger.nextFromBot('sent', { where: ({ text }) => text === 'heard one' })
  gate.release()
  await sent
})

test('C31, F-C07: a group gets its new id although the row of its session cannot be read, and nobody waits behind it', async () => {
  const path = join(tempFolder(), 'parley.db')
  const of = await startHousehold({ config: { store: { path } }, streaming: false })
  const { world, ledger } = of.telegram
  const group = world.addChat({ type: 'group', title: 'Family', id: -2001, members: [111, BOB] })
  const answered = async (chat: number | undefined, text: string): Promise<void> => {
    const after = ledger.mark()
    world.say({ from: 111, text: `@parley_bot ${text}`, ...(chat === undefined ? {} : { chat }) })
    await ledger.nextFromBot('sent', { after, where: (entry) => entry.text.includes(text) })
  }
  await answered(group.id, 'one')
  await of.daemon.stop()
  const connection = openConnection(path)
  expect(connection.run("UPDATE sessions SET kind = 'nonsense'", [])).toBe(1)
  connection.close()
  await of.restart()
  const { id } = world.migrate(group)
  await answered(undefined, 'in private')
  await answered(id, 'two')
  await recorded(of)
  expect((await of.daemon.operator.status()).channels).toMatchObject([{ status: 'up' }])
  expect(ledger.count((entry) => entry.kind === 'poll')).toBeLessThan(50)
})
