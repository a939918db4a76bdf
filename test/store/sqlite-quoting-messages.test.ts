import { join } from 'node:path'
import { expect, it } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { openSqliteStore } from '../../src/store/engines/sqlite.ts'
import { MIGRATIONS } from '../../src/store/migrations/index.ts'
import { makeSession } from '../contracts/store/under-test.ts'
import { userMessage } from './sample-rows.ts'
import { removeTempFolders, tempFolder, withDatabase } from './temp-database.ts'

removeTempFolders()

const BEFORE = MIGRATIONS.slice(
  0,
  MIGRATIONS.findIndex(({ name }) => name === 'quoting_messages'),
)

const CARD =
  'May I use pay in Family? What I was shown there includes words of bob, most recently zqx eel by Bob a moment ago: it may be their idea.'
const buttons = [{ label: 'Deny', command: '/deny nkyyk' }]

it('S41: a card of an older program, which does not say whose words it quotes, loses them with the next that are forgotten', async () => {
  const path = join(tempFolder(), 'store.db')
  await (await openSqliteStore({ path, clock: systemClock, migrations: BEFORE })).close()
  const add = (id: string, part: object, earlier?: object): void =>
    withDatabase(path, (database) => {
      database
        .prepare(`INSERT INTO outbox (id, source, part_no, trace_id, address, class, op, part, state, attempt, owner_epoch,
          expires_at, earlier) VALUES (?, ?, 0, 't', '{}', 'control', 'send', ?, 'sent', 1, 1, 1, ?)`)
        .run(id, id, JSON.stringify(part), earlier ? JSON.stringify(earlier) : null)
    })
  const card = { text: CARD, plain: CARD, markup: 'plain', buttons }
  const other = { text: 'May I use pay?', plain: 'May I use pay?', markup: 'plain' }
  add('asks', card)
  add('grew', { ...other, text: 'Refused' }, card)
  add('other', other)
  const store = await openSqliteStore({ path, clock: systemClock })
  const { id } = await makeSession(store, 1)
  await store.write((tx) => tx.events.append(id, 1, [userMessage('zqx eel')]))
  await store.write((tx) => tx.forgetting.empty(id, [1], 'all'))
  await store.close()
  const rows = withDatabase(path, (database) => database.prepare('SELECT part, earlier FROM outbox ORDER BY no').all())
  expect(JSON.stringify(rows)).not.toContain('eel')
  expect(rows).toEqual([
    { part: JSON.stringify({ ...card, text: '…', plain: '…' }), earlier: null },
    { part: expect.stringContaining('…'), earlier: JSON.stringify({ ...card, text: '…', plain: '…' }) },
    { part: JSON.stringify(other), earlier: null },
  ])
})
