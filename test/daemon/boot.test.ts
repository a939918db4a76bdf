import { once } from 'node:events'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { connectLocal } from '../../src/cli/local-client.ts'
import { parseAddress } from '../../src/core/address.ts'
import { toScheduleId } from '../../src/core/ids.ts'
import type { OperatorService } from '../../src/core/operator.ts'
import type { ConfiguredSchedule } from '../../src/core/schedule.ts'
import { openConnection } from '../../src/store/engines/sqlite-connection.ts'
import { startHousehold } from '../e2e/household.ts'
import { removeTempFolders, tempFolder } from '../store/temp-database.ts'

removeTempFolders()

/** Every command that changes something beyond its own answer, as an owner may have given it right before a crash. */
const COMMANDS = [
  ['unlink', 'telegram:9001'],
  ['unlink', 'telegram:9003'],
  ['link', ''],
  ['start', 'a-code-of-before'],
  ['admit', 'nobody'],
  ['deny', 'nobody'],
  ['mute', 'off'],
  ['send', 'inherit'],
  ['verbose', 'on'],
  ['model', 'scripted/echo'],
  ['stop', ''],
  ['outbox', 'resume'],
  ['new', ''],
  ['status', ''],
  ['why', ''],
] as const

test('whatever was stored before a crash runs while the daemon is made, and harms nothing', async () => {
  const path = join(tempFolder(), 'parley.db')
  const of = await startHousehold({ config: { store: { path } }, streaming: false })
  await of.daemon.operator.people.link('ada', 'telegram:9001')
  await of.daemon.operator.people.link('ada', 'telegram:9003')
  const { world, ledger } = of.telegram
  world.say({ from: 111, text: '/whoami' })
  await ledger.nextFromBot('sent')
  world.say({ from: 111, text: 'hello' })
  await ledger.nextFromBot('sent', { where: ({ text }) => text === 'echo hello' })
  await of.daemon.stop()

  const connection = openConnection(path)
  const given = connection.get(`SELECT id FROM inbox WHERE kind = 'control'`, [])?.id
  for (const [nth, [name, args]] of COMMANDS.entries()) {
    const copied = connection.run(
      `INSERT INTO inbox (id, channel, account, event_key, kind, trace_id, message_id, state, dispatch, decision)
        SELECT id || $1, channel, account, event_key || $1, kind, trace_id, message_id, 'waiting',
        json_set(dispatch, '$.event.name', $2, '$.event.args', $3),
        json_set(decision, '$.command', $2) FROM inbox WHERE id = $4`,
      [`x${nth}`, name, args, String(given)],
    )
    expect(copied).toBe(1)
  }
  connection.close()

  const mark = ledger.mark()
  await of.restart()
  world.say({ from: 111, text: 'still there?' })
  await ledger.nextFromBot('sent', { after: mark, where: ({ text }) => text === 'echo still there?' })
  const status = await of.daemon.operator.status()
  expect(status.waiting).toBe(0)
  const { people } = await of.daemon.operator.people.list()
  expect(JSON.stringify(people)).not.toContain('900')
})

test('a start that fails for a taken port begins nothing of what waits', async () => {
  const path = join(tempFolder(), 'parley.db')
  const of = await startHousehold({ config: { store: { path } }, streaming: false })
  const { world, ledger } = of.telegram
  world.say({ from: 111, text: 'hello' })
  await ledger.nextFromBot('sent', { where: ({ text }) => text === 'echo hello' })
  await of.daemon.stop()
  const connection = openConnection(path)
  const copied = connection.run(
    `INSERT INTO inbox (id, channel, account, event_key, kind, trace_id, message_id, state, session_id, dispatch, decision)
      SELECT 'waits', channel, account, 'waits', kind, trace_id, message_id, 'waiting', session_id, dispatch, decision
      FROM inbox WHERE kind = 'run' LIMIT 1`,
    [],
  )
  expect(copied).toBe(1)
  const turns = (): number => Number(connection.get('SELECT COUNT(*) AS n FROM turns', [])?.n)
  const before = turns()
  connection.close()

  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  onTestFinished(() => void other.close())
  const port = Number((other.address() as { port: number }).port)
  const http = { host: '127.0.0.1', port, hosts: [], origins: [] }
  await expect(of.restart({ http })).rejects.toMatchObject({ code: 'config' })

  const after = openConnection(path)
  expect(after.get('SELECT COUNT(*) AS n FROM turns', [])?.n).toBe(before)
  expect(after.get(`SELECT state FROM inbox WHERE id = 'waits'`, [])?.state).toBe('waiting')
  after.close()
})

test('what is asked while it starts is answered once everything is resumed: a schedule can be run then', async () => {
  const definition: ConfiguredSchedule['definition'] = {
    ...{ cron: '0 8 1 1 *', timezone: 'UTC', prompt: 'the rent', overlap: 'skip' },
    ...{ deliverTo: parseAddress('telegram:direct:111'), missed: { kind: 'skip' } },
  }
  const of = await startHousehold({ streaming: false, schedules: () => [{ id: toScheduleId('rent'), definition }] })
  const { world, ledger } = of.telegram
  world.say({ from: 111, text: 'hello' })
  await ledger.nextFromBot('sent', { where: ({ text }) => text === 'echo hello' })
  await of.daemon.stop()
  const started = of.restart()
  let asked: OperatorService | undefined
  while (asked === undefined) {
    await setImmediate()
    asked = await connectLocal(join(of.dataDir, 'parley.sock'))
  }
  const mark = ledger.mark()
  expect(await asked.schedules.run('rent')).toMatchObject({ traceId: expect.any(String) })
  await started
  await ledger.nextFromBot('sent', { after: mark, where: ({ text }) => text.includes('the rent') })
})
