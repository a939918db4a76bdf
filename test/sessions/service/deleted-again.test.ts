import { expect, it, vi } from 'vitest'
import { toSessionId } from '../../../src/core/ids.ts'
import { deliveryOf, dispatchOf, ids, inboxRow, messageOf, userMessage } from '../../store/sample-rows.ts'
import { removeTempFolders } from '../../store/temp-database.ts'
import { OPERATOR, serviceRig } from '../service-rig.ts'

removeTempFolders()

const id = toSessionId('api:notes')

it.each([3, 450])(
  'S41: of a session that begins again before the deleted one is purged no text and no author stays: %s messages',
  async (count) => {
    const rig = await serviceRig()
    await rig.make({ id })
    const rows = Array.from({ length: count }, (_, no) =>
      inboxRow(1, no, {
        sessionId: id,
        state: 'done',
        dispatch: { ...dispatchOf(1, no), event: messageOf(1, no, 'a secret') },
      }),
    )
    const turn = ids.turn()
    const answer = deliveryOf(turn, { part: { text: 'a secret', plain: 'a secret', markup: 'plain' } })
    await rig.store.write(async (tx) => {
      for (const [no, row] of rows.entries()) {
        await tx.inbox.add(row)
        await tx.events.append(id, 1, [{ ...userMessage('a secret', { messageId: String(no) }), turnId: turn }])
      }
      await tx.outbox.add([answer])
      await tx.authors.add(id, 'telegram:444')
      await tx.participants.add(id, 'telegram:555', 1)
    })
    const deleting = rig.service.delete(OPERATOR, id)
    await vi.waitFor(() => rig.make({ id }), { interval: 0 })
    await deleting
    const { authors, inbox, outbox, sessions, events } = rig.store.read
    for (const { id: row } of rows) expect(JSON.stringify(await inbox.get(row))).not.toContain('secret')
    expect(JSON.stringify(await outbox.ofSource(turn))).not.toContain('secret')
    expect(await authors.of(id)).toEqual([])
    expect(await events.since(id, 0, 9)).toEqual([])
    expect(await sessions.deleted(5)).toEqual([])
    expect(await sessions.get(id)).toMatchObject({ id, lastSeq: 0 })
  },
)
