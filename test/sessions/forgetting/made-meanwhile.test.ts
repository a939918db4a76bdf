import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { parseAddress } from '../../../src/core/address.ts'
import { systemClock } from '../../../src/core/clock.ts'
import type { SessionEvent } from '../../../src/core/event.ts'
import { type PersonId, type TurnId, toScheduleId, toSessionId } from '../../../src/core/ids.ts'
import { madeMeanwhile, rowsIn } from '../../../src/sessions/forgetting/made-meanwhile.ts'
import { openSqliteStore } from '../../../src/store/engines/sqlite.ts'
import type { InboxRow } from '../../../src/store/store.ts'
import { readyDatabase } from '../../fakes/ready-database.ts'
import { removeTempFolders, tempFolder } from '../../store/temp-database.ts'

removeTempFolders()

const [FORGOTTEN, LATER] = ['turn_forgotten', 'turn_later'] as readonly string[] as readonly [TurnId, TurnId]

it('S41: a reminder that the next turn of the conversation makes stays', async () => {
  const store = await openSqliteStore({ path: readyDatabase(join(tempFolder(), 'parley.db')), clock: systemClock })
  onTestFinished(() => store.close())
  const session = toSessionId('telegram:2026-11-23-00000001')
  const put = (name: string, madeBy: TurnId, at: number) =>
    store.write((tx) =>
      tx.schedules.put(
        {
          ...{ id: toScheduleId(name), source: 'command', creator: 'ada' as PersonId },
          definition: {
            ...{ at: 9_000_000, timezone: 'UTC', prompt: 'drink', missed: { kind: 'once' }, overlap: 'skip' },
            ...{ deliverTo: parseAddress('telegram:direct:111'), madeIn: session, madeBy },
          },
        },
        at,
      ),
    )
  await put('before', FORGOTTEN, 1)
  await put('meanwhile', FORGOTTEN, 3)
  await put('later', LATER, 4)
  const made = await store.write((tx) => madeMeanwhile(tx, { turn: FORGOTTEN, since: 2, events: [] }))
  expect(made.schedules).toEqual(['meanwhile'])
})

it('S41: of the messages that one turn has answered those go whose events are emptied', () => {
  const said = (seq: number, data: object): SessionEvent =>
    ({ type: 'user_message', seq, at: seq, data: { text: 'hello', ...data } }) as SessionEvent
  const events = [said(1, { row: 'in_1' }), said(2, { row: 'in_2' }), said(3, { messageId: '7' })]
  const row = (id: string, messageId: string) => ({ id, dispatch: { event: { messageId } } }) as unknown as InboxRow
  // The third is of an older log, which names no rows.
  const asked = [row('in_1', '5'), row('in_2', '6'), row('in_3', '7')]
  expect(rowsIn(events, { seqs: [1], asked })).toEqual(['in_1'])
  expect(rowsIn(events, { seqs: [2, 3], asked })).toEqual(['in_2', 'in_3'])
})
