import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../../src/core/clock.ts'
import type { CommandCall } from '../../../src/core/command.ts'
import type { TurnId } from '../../../src/core/ids.ts'
import { stopCommand } from '../../../src/sessions/commands/stop.ts'
import { openSqliteStore } from '../../../src/store/engines/sqlite.ts'
import type { Store, StoreWriter } from '../../../src/store/store.ts'
import { CHANNELS } from '../../fakes/channels.ts'
import { commandCall } from '../../fakes/command-call.ts'
import { dispatchOf, group, message, user } from '../../fakes/dispatch.ts'
import { inboxRow, sessionDraft, turnOf } from '../../store/sample-rows.ts'
import { removeTempFolders, tempFolder } from '../../store/temp-database.ts'

removeTempFolders()

const address = group('-100')

it('a stranger ends no turn that somebody joins at that moment', async () => {
  const store = await openSqliteStore({ path: join(tempFolder(), 'parley.db'), clock: systemClock })
  onTestFinished(() => store.close())
  const { dispatch, ...given } = commandCall('stop', '', { address })
  const asked = { ...dispatch, event: { ...dispatch.event, sender: user('9') } }
  const call: CommandCall = { ...given, dispatch: asked, decision: { ...given.decision, public: true } }
  const { id: sessionId } = await store.write((tx) =>
    tx.sessions.create(sessionDraft(1, { scopeKey: call.decision.route.scopeKey }), 1),
  )
  const turn = turnOf(sessionId, 1)
  const saidBy = (no: number, sender: string) => ({
    ...inboxRow(1, no, { sessionId }),
    dispatch: dispatchOf(message({ address, sender: user(sender), eventKey: `said ${no}` })),
  })
  const joins = saidBy(2, '444')
  await store.write(async (tx) => {
    await tx.turns.start(turn)
    await tx.inbox.add({ ...saidBy(1, '9'), state: 'claimed', turnId: turn.id })
    await tx.inbox.add(joins)
  })
  let joined: Promise<unknown> | undefined
  const joinsIn = (): Promise<unknown> => (joined ??= store.write((tx) => tx.inbox.claim([joins.id], turn.id)))
  const { sessions, turns, inbox } = store.read
  const joinedThen = {
    read: {
      sessions,
      turns,
      inbox: {
        async ofTurn(id: TurnId) {
          const rows = await inbox.ofTurn(id)
          await joinsIn()
          return rows
        },
      },
    },
    write: <Result>(body: (tx: StoreWriter) => Promise<Result>) => joinsIn().then(() => store.write(body)),
  } as unknown as Store
  const ended: unknown[] = []
  const running = { abort: async (...which: unknown[]) => void ended.push(which) }
  const command = stopCommand({ channels: CHANNELS, store: joinedThen, clock: systemClock, running })
  const stopping = command.run(call).catch((err: unknown) => err)
  expect(await stopping).toMatchObject({ code: 'forbidden' })
  expect(ended).toEqual([])
})
