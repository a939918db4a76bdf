import { expect, it } from 'vitest'
import { parseAddress } from '../../../src/core/address.ts'
import {
  type DeliveryId,
  madeAt,
  mediaId,
  notificationId,
  notificationsFrom,
  type PersonId,
} from '../../../src/core/ids.ts'
import type { Delivery } from '../../../src/core/outbound.ts'
import type { DeliveryChange } from '../../../src/store/outbox-port.ts'
import { addressOf, deliveryOf, ids, inboxRow } from '../../store/sample-rows.ts'
import { type ContractPart, failureOf, makeSession, rejection, WRONG_JSON } from './under-test.ts'

const NOBODY = 'out_nobody' as DeliveryId

export const outboxContract: ContractPart = (underTest) => {
  const add = async (...rows: readonly ReturnType<typeof deliveryOf>[]) => {
    await underTest.store.write((tx) => tx.outbox.add(rows))
    return rows
  }
  const stateOf = async (id: DeliveryId) => (await underTest.store.read.outbox.get(id))?.state

  it('a row comes back word for word, after a restart too', async () => {
    const { id: sessionId } = await makeSession(underTest.store, 1)
    const full = deliveryOf(ids.turn(), {
      sessionId,
      replyTo: '7',
      notBefore: 5,
      startedAt: 6,
      messageId: '8',
      reason: 'x',
      only: { id: '7', handle: 'token', otherwise: 'direct' },
      lowPriority: { supersedes: 'telegram:7', known: true },
      reader: { platformId: 'slack:t1/u7', person: 'ada' as PersonId, owner: true },
    })
    const bare = deliveryOf(inboxRow(1, 1).id)
    await add(full, bare)
    const store = await underTest.reopen()
    expect(await store.read.outbox.get(full.id)).toEqual({ ...full, attempt: 0, ownerEpoch: 0 })
    expect(await store.read.outbox.get(bare.id)).toEqual({ ...bare, attempt: 0, ownerEpoch: 0 })
    expect(await store.read.outbox.get(NOBODY)).toBeUndefined()
  })

  it('the file of a row is in use until the row has ended, or sends something else', async () => {
    const [one, other] = [mediaId('1'.repeat(64)), mediaId('2'.repeat(64))]
    const file = { media: one, name: 'a.md', mime: 'text/plain', size: 3, as: 'document' } as const
    const [sent, replaced] = [file, { ...file, media: other }].map((file) =>
      deliveryOf(ids.turn(), { part: { text: 'x', plain: 'x', markup: 'plain', file } }),
    )
    const rows = await add(...[sent, replaced].filter((row) => row !== undefined))
    const used = async () => [...(await underTest.store.read.media.used([one, other]))].sort()
    expect(await underTest.store.read.outbox.get(rows[0]?.id ?? NOBODY)).toMatchObject({ part: { file } })
    expect(await used()).toEqual([one, other])
    await underTest.store.write(async (tx) => {
      await tx.outbox.settle(rows[0]?.id ?? NOBODY, { state: 'sent', messageId: '1', at: 1 })
      const part = { text: 'y', plain: 'y', markup: 'plain' } as const
      const change = { op: 'send', part, state: 'planned', lowPriority: undefined, at: 1 } as const
      await tx.outbox.replace(rows[1]?.id ?? NOBODY, change)
    })
    expect(await used()).toEqual([])
  })

  it('a row added as sending is a first attempt of this epoch', async () => {
    const row = deliveryOf(ids.turn(), { state: 'sending', startedAt: 4 })
    await add(row)
    expect(await underTest.store.read.outbox.get(row.id)).toMatchObject({
      attempt: 1,
      ownerEpoch: underTest.store.epoch,
      startedAt: 4,
    })
  })

  it('a part of a source goes in once, and the whole body is undone', async () => {
    const source = ids.turn()
    await add(deliveryOf(source))
    const rows = [deliveryOf(source, { partNo: 1 }), deliveryOf(source)]
    expect(await rejection(underTest.store, (tx) => tx.outbox.add(rows))).toMatchObject({ code: 'conflict' })
    expect(await underTest.store.read.outbox.ofSource(source)).toHaveLength(1)
  })

  it('many parts are kept in order', async () => {
    const source = ids.turn()
    const parts = Array.from({ length: 70 }, (_, partNo) => deliveryOf(source, { partNo }))
    await add(...parts)
    const stored = await underTest.store.read.outbox.ofSource(source)
    expect(stored.map((row) => row.id)).toEqual(parts.map((row) => row.id))
  })

  it('ofMessage finds our own message by the id the platform gave it', async () => {
    const [first, second] = await add(
      deliveryOf(ids.turn(), { messageId: '8' }),
      deliveryOf(ids.turn(), { messageId: '8' }),
      deliveryOf(ids.turn(), { messageId: '9' }),
    )
    const { outbox } = underTest.store.read
    expect((await outbox.ofMessage('8')).map(({ id }) => id)).toEqual([second?.id, first?.id])
    expect(await outbox.ofMessage('10')).toEqual([])
  })

  it('plannedFor finds our texts for a chat by when they were planned, and forgotten ones by when they were sent', async () => {
    const [first, second] = await add(deliveryOf(ids.turn()), deliveryOf(ids.turn()))
    const address = first?.address ?? addressOf(1)
    await add(deliveryOf(ids.turn(), { address: addressOf(2) }))
    const { outbox } = underTest.store.read
    const at = madeAt(first?.id ?? '') ?? 0
    const times = (from: number, to: number) => ({ from: at + from, to: at + to, begunSince: at + from })
    const found = await outbox.plannedFor(address, times(-60_000, 60_000))
    expect(found.map(({ id }) => id)).toEqual([first?.id, second?.id])
    expect(await outbox.plannedFor(address, times(-60_000, -30_000))).toEqual([])
    expect(await outbox.plannedFor({ ...address, channel: 'discord' }, times(-60_000, 60_000))).toEqual([])
    if (first === undefined) throw new Error('Two were added.')
    await underTest.store.write((tx) => tx.outbox.begin(first.id, ['planned'], at + 90_000))
    expect(await outbox.plannedFor(address, times(60_000, 120_000))).toEqual([])
    await underTest.store.write((tx) => tx.forgetting.emptySent(first.source))
    expect((await outbox.plannedFor(address, times(60_000, 120_000))).map(({ id }) => id)).toEqual([first.id])
    expect(await outbox.plannedFor(address, times(100_000, 120_000))).toEqual([])
  })

  it('owedOf counts what is not over, of the sources whose ids begin so', async () => {
    const ofToken = (request: string) => deliveryOf(notificationId('a1', request, 0))
    const [first] = await add(ofToken('one'), ofToken('two'), deliveryOf(notificationId('a12', 'one', 0)))
    const { outbox } = underTest.store.read
    expect([await outbox.owedOf(notificationsFrom('a1')), await outbox.owedOf(notificationsFrom(undefined))]).toEqual([
      2, 0,
    ])
    await underTest.store.write((tx) => tx.outbox.settle(first?.id ?? NOBODY, { at: 1, state: 'sent', messageId: '9' }))
    expect(await outbox.owedOf(notificationsFrom('a1'))).toBe(1)
  })

  it('begin counts the attempt and takes only rows in an expected state', async () => {
    const [row] = await add(deliveryOf(ids.turn()))
    const id = row?.id ?? NOBODY
    const begin = (from: readonly Delivery['state'][]) => underTest.store.write((tx) => tx.outbox.begin(id, from, 44))
    expect(await begin(['waiting'])).toBe(false)
    expect(await begin([])).toBe(false)
    expect(await begin(['planned', 'waiting'])).toBe(true)
    expect(await begin(['planned', 'waiting'])).toBe(false)
    const { epoch, read } = underTest.store
    expect(await read.outbox.get(id)).toMatchObject({ state: 'sending', attempt: 1, ownerEpoch: epoch, startedAt: 44 })
  })

  it('settle moves a row on and keeps what was known', async () => {
    const [row] = await add(deliveryOf(ids.turn(), { state: 'sending' }))
    const id = row?.id ?? NOBODY
    const settle = (change: Omit<DeliveryChange, 'at'>) =>
      underTest.store.write((tx) => tx.outbox.settle(id, { at: 1, ...change }))
    await settle({ state: 'waiting', reason: 'slow down', notBefore: 500 })
    expect(await underTest.store.read.outbox.get(id)).toMatchObject({ reason: 'slow down', notBefore: 500 })
    await settle({ state: 'sent', messageId: '900' })
    const sent = await underTest.store.read.outbox.get(id)
    expect(sent).toMatchObject({ state: 'sent', messageId: '900', reason: 'slow down' })
    expect(sent).not.toHaveProperty('notBefore')
    expect(sent?.address).toEqual(row?.address)
    const address = parseAddress('telegram:group:-100999')
    await settle({ state: 'sent', messageId: '901', address })
    expect(await underTest.store.read.outbox.get(id)).toMatchObject({ messageId: '901', address })
  })

  it('replace turns a sent live message into its final edit', async () => {
    const [row] = await add(deliveryOf(ids.turn(), { state: 'sending', lowPriority: {} }))
    const id = row?.id ?? NOBODY
    const part = { text: '<b>done</b>', plain: 'done', markup: 'html' } as const
    await underTest.store.write((tx) => tx.outbox.settle(id, { state: 'sent', messageId: '5', at: 1 }))
    const sending = { op: 'edit', part, state: 'sending', lowPriority: {}, at: 70 } as const
    await underTest.store.write((tx) => tx.outbox.replace(id, sending))
    const edit = await underTest.store.read.outbox.get(id)
    expect(edit).toMatchObject({ op: 'edit', part, state: 'sending', messageId: '5', attempt: 2, startedAt: 70 })
    expect(edit?.lowPriority).toEqual({})
    const planned = { op: 'delete', part, state: 'planned', lowPriority: undefined, at: 80 } as const
    await underTest.store.write((tx) => tx.outbox.replace(id, planned))
    const removal = await underTest.store.read.outbox.get(id)
    expect(removal).toMatchObject({ op: 'delete', state: 'planned', attempt: 2 })
    expect(removal).not.toHaveProperty('lowPriority')
  })

  it('fence makes the sending rows of an older epoch uncertain, and no others', async () => {
    const rows = [deliveryOf(ids.turn(), { state: 'sending' }), deliveryOf(ids.turn())]
    await add(...rows)
    const store = await underTest.reopen()
    const fresh = deliveryOf(ids.turn(), { state: 'sending' })
    await add(fresh)
    expect(await store.write((tx) => tx.outbox.fence())).toBe(1)
    expect(await store.write((tx) => tx.outbox.fence())).toBe(0)
    const states = await Promise.all([...rows, fresh].map((row) => stateOf(row.id)))
    expect(states).toEqual(['uncertain', 'planned', 'sending'])
  })

  it('unfinished gives what still owes something, oldest first; counts and recent tell the rest', async () => {
    const states = ['sent', 'planned', 'uncertain', 'rejected', 'sending', 'waiting', 'given_up', 'expired'] as const
    const rows = states.map((state) => deliveryOf(ids.turn(), { state }))
    await add(...rows)
    const { outbox } = underTest.store.read
    expect((await outbox.unfinished()).map((row) => row.state)).toEqual(['planned', 'uncertain', 'sending', 'waiting'])
    expect(await outbox.counts()).toEqual(Object.fromEntries(states.map((state) => [state, 1])))
    expect((await outbox.recent(['sent', 'planned', 'expired'], 2)).map((row) => row.state)).toEqual([
      'expired',
      'planned',
    ])
    expect(await outbox.recent([], 5)).toEqual([])
  })

  it('a page begins behind a row, has the asked states alone, and those of one session', async () => {
    const rows = await add(
      ...(['sent', 'planned', 'sent', 'sent'] as const).map((state) => deliveryOf(ids.turn(), { state })),
    )
    const { outbox } = underTest.store.read
    const page = async (query: Partial<Parameters<typeof outbox.page>[0]>) => {
      const whole = { states: ['sent', 'planned'] as const, session: undefined, after: undefined, limit: 10, ...query }
      return (await outbox.page(whole)).map(({ id }) => rows.findIndex((row) => row.id === id))
    }
    expect(await page({ limit: 2 })).toEqual([3, 2])
    expect(await page({ limit: 2, after: rows[2]?.id })).toEqual([1, 0])
    expect(await page({ states: ['planned'] })).toEqual([1])
    expect(await page({ states: [] })).toEqual([])
    expect(await page({ session: 'telegram:none' as never })).toEqual([])
    expect(await page({ after: NOBODY })).toEqual([])
  })

  it('a delivery nobody knows is not found', async () => {
    const settle = underTest.store.write((tx) => tx.outbox.settle(NOBODY, { state: 'sent', at: 1 }))
    expect(await failureOf(settle)).toMatchObject({ code: 'not_found' })
    const part = { text: '', plain: '', markup: 'plain' } as const
    const replace = underTest.store.write((tx) =>
      tx.outbox.replace(NOBODY, { op: 'edit', part, state: 'planned', lowPriority: undefined, at: 1 }),
    )
    expect(await failureOf(replace)).toMatchObject({ code: 'not_found' })
    expect(await underTest.store.write((tx) => tx.outbox.begin(NOBODY, ['planned'], 1))).toBe(false)
  })

  it('C31: a state that does not exist is refused on writing', async () => {
    const row = deliveryOf(ids.turn(), { state: 'lost' as Delivery['state'] })
    expect(await failureOf(add(row))).toMatchObject({ code: 'invalid' })
  })

  it.each([
    ...WRONG_JSON.map((json) => ['part', json]),
    ['part', '{"text":5,"plain":"hello","markup":"plain"}'],
    ['part', '{"text":"hello","plain":"hello","markup":"odd"}'],
    ['part', '{"text":"hello","plain":"hello","markup":"plain","buttons":[null]}'],
    ['part', '{"text":"hello","plain":"hello","markup":"plain","file":{}}'],
    ['part', '{"text":"hello","plain":"hello","markup":"plain","quoting":[]}'],
    ...WRONG_JSON.map((json) => ['address', json]),
    ['address', '{"channel":"telegram","account":"default","chatType":"odd","chat":"7"}'],
    ['address', '{"channel":"telegram","account":"default","chatType":"direct","chat":7}'],
    ['recipient', '{}'],
    ['reader', '[]'],
    ['low_priority', '[]'],
    ['low_priority', '{"supersedes":5}'],
    ['earlier', '{}'],
  ])('C31: a row whose %s reads %s is set aside by name, and skipped and counted in a list', async (column, json) => {
    const [damaged, sound] = await add(deliveryOf(ids.turn()), deliveryOf(ids.turn()))
    const store = await underTest.reopen(`UPDATE outbox SET ${column} = '${json}' WHERE id = '${damaged?.id}'`)
    expect(await store.read.outbox.unreadable()).toMatchObject([{ id: damaged?.id }])
    expect((await store.read.outbox.unfinished()).map((row) => row.id)).toEqual([sound?.id])
    expect(underTest.warnings).toMatchObject([{ fields: { table: 'outbox', rows: [damaged?.id], count: 1 } }])
  })
}
