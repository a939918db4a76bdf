import { expect, it } from 'vitest'
import { type SessionId, toPersonId } from '../../../src/core/ids.ts'
import type { SessionDraft } from '../../../src/core/session.ts'
import { failureOf } from '../../contracts/store/under-test.ts'
import { sessionDraft } from '../../store/sample-rows.ts'
import { removeTempFolders } from '../../store/temp-database.ts'
import { BOB, GUEST, serviceRig, token } from '../service-rig.ts'

removeTempFolders()

const absent = expect.objectContaining({ code: 'not_found' })
const all = { limit: 200, offset: 0, inactive: true }

/** The scope of a session that follows somebody over their chats. */
function following(sender: string): SessionDraft['scope'] {
  return { ...sessionDraft(1).scope, dimensions: ['sender'], values: { sender } }
}

it.each<[string, Partial<SessionDraft>]>([
  ['everybody’s', { kind: 'main', displayKey: 'agent:main:main' }],
  ['a person’s', { displayKey: 'direct:ada' }],
  ['a person’s with an agent', { displayKey: 'agent:main:direct:ada' }],
])(
  'S42: a session of an older version that joins chats as %s is no token’s, though its id names a channel',
  async (_, draft) => {
    const rig = await serviceRig()
    const id = await rig.make({ id: 'telegram:2026-01-01-00000001' as SessionId, ...draft })
    expect(await failureOf(rig.service.get(token('telegram'), id))).toEqual(absent)
    expect(await failureOf(rig.service.post(token('telegram'), id, { text: 'hi', sender: 'telegram:1' }))).toEqual(
      absent,
    )
    expect((await rig.service.list(token('telegram'), all)).total).toBe(0)
  },
)

it.each(['bob', 'BOB', '444', 'telegram:444'])(
  'S19: a session that follows %s is his who has that id',
  async (sender) => {
    const rig = await serviceRig()
    const id = await rig.make({ scope: following(sender) })
    await rig.store.write((tx) => tx.participants.add(id, 'telegram:444', 1))
    expect(await rig.service.get(BOB, id)).toMatchObject({ id })
  },
)

it.each(['ada', '555', 'telegram:555'])(
  'S19: and one that follows %s is not, though an id that is his by now took part',
  async (sender) => {
    const rig = await serviceRig()
    const id = await rig.make({ scope: following(sender) })
    await rig.store.write((tx) => tx.participants.add(id, 'telegram:444', 1))
    expect(await failureOf(rig.service.get(BOB, id))).toEqual(absent)
  },
)

it('S20: whoever took part as a person, by no chat of a platform, reads the session; nobody else does', async () => {
  const rig = await serviceRig()
  const id = await rig.make()
  await rig.store.write((tx) => tx.participants.add(id, 'person:cy', 1))
  const cy = { kind: 'person', person: toPersonId('cy'), role: 'guest' } as const
  expect(await rig.service.get(cy, id)).toMatchObject({ id })
  expect((await rig.service.list(cy, all)).total).toBe(1)
  for (const other of [BOB, GUEST]) expect(await failureOf(rig.service.get(other, id))).toEqual(absent)
})
