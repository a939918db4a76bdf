import { join } from 'node:path'
import { expect, it } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import type { InboxId, TurnId } from '../../src/core/ids.ts'
import { openSqliteStore } from '../../src/store/engines/sqlite.ts'
import type { NewInboxRow } from '../../src/store/inbox-port.ts'
import { MIGRATIONS } from '../../src/store/migrations/index.ts'
import { addressOf, commandOf, decisionOf, inboxRow } from './sample-rows.ts'
import { removeTempFolders, tempFolder, withDatabase } from './temp-database.ts'

removeTempFolders()

const BEFORE = MIGRATIONS.slice(
  0,
  MIGRATIONS.findIndex(({ name }) => name === 'low-priority'),
)

const STRANGER = { ...decisionOf(1), public: true } as const
const ADMITTED = decisionOf(1)
const COMMAND = commandOf(1)
const OWNERS = { ...COMMAND, identity: { role: 'owner' } } as const

it('an older database: what is owed to strangers, and to whoever gave commands, has low priority after the upgrade', async () => {
  const path = join(tempFolder(), 'store.db')
  const old = await openSqliteStore({ path, clock: systemClock, migrations: BEFORE })
  let no = 0
  const asked = async (decision: NewInboxRow['decision'], changes: Partial<NewInboxRow>): Promise<void> =>
    old.write(async (tx) => void (await tx.inbox.add(inboxRow(1, no++, { decision, ...changes }))))
  const ofTurn = (turn: string) => ({ state: 'claimed', turnId: turn as TurnId }) as const
  await asked(STRANGER, ofTurn('turn_strangers'))
  await asked(STRANGER, ofTurn('turn_strangers'))
  await asked(STRANGER, ofTurn('turn_joined'))
  await asked(ADMITTED, ofTurn('turn_joined'))
  await asked(STRANGER, ofTurn('turn_sent'))
  await asked(COMMAND, { id: 'in_command' as InboxId, state: 'done' })
  await asked(OWNERS, { id: 'in_owners' as InboxId, state: 'done' })
  await old.close()
  const OWED = ['turn_strangers', 'turn_joined', 'in_command', 'in_owners', 'notice_1']
  withDatabase(path, (database) => {
    const add = database.prepare(`INSERT INTO outbox (id, source, part_no, trace_id, address, class, op, part, state,
      attempt, owner_epoch, expires_at) VALUES (?, ?, 0, 'tr_1', ?, 'reply', 'send', '{"text":"","plain":"","markup":"plain"}', ?, 0, 0, 1)`)
    for (const source of OWED) add.run(`out_${source}`, source, JSON.stringify(addressOf(1)), 'planned')
    add.run('out_sent', 'turn_sent', JSON.stringify(addressOf(1)), 'sent')
  })
  const store = await openSqliteStore({ path, clock: systemClock })
  const rows = await store.read.outbox.unfinished()
  expect(rows.map(({ source }) => source)).toEqual(OWED)
  expect(rows.filter((row) => row.lowPriority).map(({ source, lowPriority }) => [source, lowPriority])).toEqual([
    ['turn_strangers', {}],
    ['in_command', {}],
  ])
  expect((await store.read.outbox.ofSource('turn_sent' as TurnId))[0]).not.toHaveProperty('lowPriority')
  await store.close()
})
