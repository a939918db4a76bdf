import { expect, it } from 'vitest'
import type { Dispatch } from '../../../src/core/dispatch.ts'
import { toPersonId } from '../../../src/core/ids.ts'
import { postText } from '../../../src/sessions/service/post-text.ts'
import { failureOf } from '../../contracts/store/under-test.ts'
import { CHANNELS } from '../../fakes/channels.ts'
import { fixedClock } from '../../fakes/fixed-clock.ts'
import { ids, inboxRow } from '../../store/sample-rows.ts'
import { removeTempFolders } from '../../store/temp-database.ts'
import { ADA, BOB, OPERATOR, serviceRig, token } from '../service-rig.ts'

removeTempFolders()

async function place(chat: string) {
  const rig = await serviceRig()
  const id = await rig.make({ id: chat as never })
  const session = await rig.store.read.sessions.get(id)
  if (!session) throw new Error('it was made')
  const accepted: Dispatch[] = []
  const post = (caller: typeof OPERATOR, sender?: string) =>
    postText(
      {
        store: rig.store,
        clock: fixedClock(1),
        channels: CHANNELS,
        ids,
        running: { nextEnd: () => new Promise(() => {}) },
        posts: () => false,
        refusesAgent: () => undefined,
        refusesModel: () => undefined,
        mainIsShared: () => false,
        whoIs: (platformId) =>
          platformId === 'web:alice' ? { person: toPersonId('alice'), role: 'member' } : { role: 'guest' },
        async accept(dispatch) {
          accepted.push(dispatch)
          await rig.store.write((tx) => tx.inbox.add({ ...inboxRow(1, 1), dispatch, sessionId: id }))
        },
      },
      {
        caller,
        session,
        begins: false,
        request: { text: 'hi', waitSeconds: 0, ...(sender === undefined ? {} : { sender }) },
      },
    )
  return { post, accepted }
}

it('S42: a token speaks for senders of its namespace, resolved as they are known now', async () => {
  const { post, accepted } = await place('web:alice:phone')
  expect(await post(token('web:alice'), 'web:alice')).toMatchObject({ status: 'accepted', session: 'web:alice:phone' })
  await post(token('web:alice'), 'WEB:alice:phone')
  expect(
    accepted.map(({ origin, event, posted }) => [origin, event.sender.id, posted?.identity, posted?.participant]),
  ).toEqual([
    ['api', 'alice', { person: 'alice', role: 'member' }, 'web:alice'],
    ['api', 'alice:phone', { role: 'guest' }, 'web:alice:phone'],
  ])
})

it.each([undefined, '', 'web:alice2', 'web:bob', 'telegram:111', 'alice', 'web', 'web:alicе'])(
  'S42, F-H09: it does not speak for %j',
  async (sender) => {
    const { post, accepted } = await place('web:alice:phone')
    expect(await failureOf(post(token('web:alice'), sender))).toMatchObject({ code: 'invalid' })
    expect(accepted).toEqual([])
  },
)

it('S21, S44: people speak for themselves, whatever sender they name; the operator becomes no participant', async () => {
  const { post, accepted } = await place('web:alice:phone')
  await post(ADA, 'web:alice')
  await post(BOB)
  await post(OPERATOR)
  expect(
    accepted.map(({ origin, event, posted }) => [origin, event.sender.id, posted?.identity.role, posted?.participant]),
  ).toEqual([
    ['api', 'ada', 'owner', 'person:ada'],
    ['api', 'bob', 'member', 'person:bob'],
    ['operator', 'operator', 'owner', undefined],
  ])
})

it('F-A20: a text that is posted while the daemon stops is refused as unavailable', async () => {
  const { service, make, drain } = await serviceRig()
  const id = await make()
  drain()
  expect(await failureOf(service.post(OPERATOR, id, { text: 'hi', waitSeconds: 0 }))).toMatchObject({
    code: 'unavailable',
  })
})
