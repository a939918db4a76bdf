import { expect, test, vi } from 'vitest'
import type { StoreWriter } from '../../src/store/store.ts'
import { sessionDraft } from '../store/sample-rows.ts'
import { answerLost, broken, refused, unreachable } from './fake-channel.ts'
import { anInbox, at, DM, GROUP, openRig, TURN } from './rig.ts'

const LONG =
  'The first part of three has words.\n\nThe second part of three has words.\n\nThe third part of three has words.'

test('a planned message is on disk with its transaction, its first part already sending', async () => {
  const rig = await openRig()
  const message = rig.message(LONG)
  const planned = await rig.store.write((tx) => rig.delivery.plan(tx, message))
  expect(planned.outcome).toBe('planned')
  const rows = await rig.rows(message.source)
  expect(rows.map(({ state, attempt }) => [state, attempt])).toEqual([
    ['sending', 1],
    ['planned', 0],
    ['planned', 0],
  ])
  expect(rig.channel.calls).toEqual([])
})

test('parts go out in order, one row each, and only the first one replies', async () => {
  const rig = await openRig()
  const { source } = rig.message('')
  await rig.say(LONG, { source, replyTo: '55' })
  await rig.delivery.idle()
  expect(rig.channel.visible(DM)).toEqual(LONG.split('\n\n'))
  expect(rig.channel.calls.map(({ replyTo }) => replyTo)).toEqual(['55', undefined, undefined])
  expect((await rig.rows(source)).map(({ state, messageId }) => [state, messageId])).toEqual([
    ['sent', 'm1'],
    ['sent', 'm2'],
    ['sent', 'm3'],
  ])
})

test('a rolled back plan leaves nothing and holds up nobody', async () => {
  const rig = await openRig()
  const lost = rig.store.write(async (tx) => {
    await rig.delivery.plan(tx, rig.message('never'))
    throw new Error('the transaction failed')
  })
  await expect(lost).rejects.toThrow('the transaction failed')
  await rig.say('after')
  await rig.delivery.idle()
  expect(rig.channel.visible(DM)).toEqual(['after'])
  const next = rig.message('next')
  await rig.store.write((tx) => rig.delivery.plan(tx, next))
  expect(await rig.rows(next.source)).toMatchObject([{ state: 'sending' }])
})

test('a plan that runs again because another body failed takes its slot once, and its part leaves at once', async () => {
  const rig = await openRig()
  const started = rig.clock.now()
  const failing = async (tx: StoreWriter) => {
    await rig.delivery.plan(tx, rig.message('never'))
    throw new Error('no')
  }
  for (const text of ['one', 'two', 'three']) {
    const message = rig.message(text)
    const plan = rig.store.write((tx) => rig.delivery.plan(tx, message))
    await Promise.allSettled([plan, rig.store.write(failing)])
    expect(await rig.rows(message.source)).toMatchObject([{ state: 'sending' }])
    rig.delivery.release(await plan)
    await rig.delivery.idle()
  }
  expect(rig.channel.calls.map(({ text, at }) => [text, at])).toEqual(
    ['one', 'two', 'three'].map((text) => [text, started]),
  )
})

test('of two messages planned at once for one conversation only the first is sending', async () => {
  const rig = await openRig()
  const messages = [rig.message('one'), rig.message('two')]
  const planned = await Promise.all(messages.map((message) => rig.store.write((tx) => rig.delivery.plan(tx, message))))
  const rows = await Promise.all(messages.map(({ source }) => rig.rows(source)))
  expect(rows.flat().map(({ state }) => state)).toEqual(['sending', 'planned'])
  for (const one of planned) rig.delivery.release(one)
  await rig.delivery.idle()
  expect(rig.channel.visible(DM)).toEqual(['one', 'two'])
})

test('S28: a silent message writes no row and sends nothing', async () => {
  const rig = await openRig()
  const planned = await rig.say('<NO_REPLY>')
  await rig.delivery.idle()
  expect(planned.outcome).toBe('silent')
  expect([rig.channel.calls, await rig.store.read.outbox.counts()]).toEqual([[], {}])
})

test('T31: a denied message writes no row and sends nothing', async () => {
  const rig = await openRig()
  rig.verdict = { allowed: false, because: 'override' }
  const planned = await rig.say('hello')
  await rig.delivery.idle()
  expect(planned).toMatchObject({ outcome: 'denied', because: 'override' })
  expect([rig.channel.calls, await rig.store.read.outbox.counts()]).toEqual([[], {}])
})

test.each([
  ['reply', 0],
  ['effect', 0],
  ['control', 1],
] as const)(
  'T31: a %s that waits for its channel when its session is denied, also over a restart, is sent %i times',
  async (as, times) => {
    const rig = await openRig()
    rig.up = false
    const { session } = TURN
    await rig.store.write((tx) => tx.sessions.create({ ...sessionDraft(1), ...session }, 1))
    const source = rig.message('').source
    await rig.say('hello', { source, class: as, session })
    await rig.say('of no session')
    rig.verdictOf = (speaker) => ({ allowed: speaker.session?.scopeKey !== session.scopeKey, because: 'override' })
    await rig.crash()
    await rig.ready()
    expect(rig.channel.visible(DM)).toEqual([...Array(times).fill('hello'), 'of no session'])
    expect(await rig.rows(source)).toMatchObject([times ? { state: 'sent' } : { state: 'expired', reason: 'override' }])
  },
)

test('T31: the parts of an answer that still wait when its session is denied are not sent', async () => {
  const rig = await openRig()
  const { session } = TURN
  await rig.store.write((tx) => tx.sessions.create({ ...sessionDraft(1), ...session }, 1))
  const { source } = rig.message('')
  rig.verdictOf = () => ({ allowed: rig.channel.calls.length === 0, because: 'override' })
  await rig.say(LONG, { source, session })
  await rig.delivery.idle()
  expect(rig.channel.calls).toHaveLength(1)
  const [first, ...others] = await rig.rows(source)
  expect(first).toMatchObject({ state: 'sent' })
  expect(new Set(others.map(({ state }) => state))).toEqual(new Set(['expired']))
})

test('T31: what may have arrived is not repeated into a session that is denied by then', async () => {
  const rig = await openRig()
  rig.channel.fates.push(answerLost)
  const { session } = TURN
  await rig.store.write((tx) => tx.sessions.create({ ...sessionDraft(1), ...session }, 1))
  const { source } = rig.message('')
  await rig.say('hello', { source, session })
  await rig.delivery.idle()
  rig.verdict = { allowed: false, because: 'override' }
  await rig.pass(60_000)
  expect(rig.channel.calls).toHaveLength(1)
  expect(await rig.rows(source)).toMatchObject([{ state: 'given_up', reason: 'override' }])
})

test('a second message of one source is a conflict', async () => {
  const rig = await openRig()
  const source = anInbox('1')
  await rig.say('once', { source })
  await expect(rig.say('twice', { source })).rejects.toMatchObject({ code: 'conflict' })
})

test('an answer in one part is planned without a question; that its turn had shown something the row tells', async () => {
  const rig = await openRig()
  const message = rig.message('once')
  const questions = (): Promise<number> =>
    rig.store.write(async (tx) => {
      const { outbox } = tx
      const asked = vi.spyOn(outbox, 'ofSource')
      const afterUndo = tx.afterUndo.bind(tx)
      await rig.delivery.plan(
        Object.create(tx, { outbox: { value: outbox }, afterUndo: { value: afterUndo } }),
        message,
      )
      return asked.mock.calls.length
    })

  expect([await questions(), await questions()]).toEqual([0, 1])
  expect(await rig.rows(message.source)).toHaveLength(1)
})

test('a second answer of a turn in several parts is a conflict', async () => {
  const rig = await openRig()
  const { source } = rig.message('')
  await rig.say(LONG, { source })
  await expect(rig.say(LONG, { source })).rejects.toMatchObject({ code: 'conflict' })
})

test('what provably did not leave is tried again, and what follows keeps its place', async () => {
  const rig = await openRig()
  rig.channel.fates.push(unreachable, unreachable)
  await rig.say('first')
  await rig.say('second')
  await rig.delivery.idle()
  expect(rig.channel.visible(DM)).toEqual([])
  await rig.pass(5_000)
  expect(rig.channel.visible(DM)).toEqual(['first', 'second'])
  expect(new Set(rig.channel.calls.slice(0, 3).map(({ key }) => key)).size).toBe(1)
})

test('a refused part ends its message and the next message goes on', async () => {
  const rig = await openRig()
  rig.channel.fates.push({ receipt: { kind: 'sent', messageId: 'm1' }, done: true }, refused('bot was blocked'))
  const { source } = rig.message('')
  await rig.say(LONG, { source })
  await rig.say('next')
  await rig.delivery.idle()
  expect((await rig.rows(source)).map(({ state, reason }) => [state, reason])).toEqual([
    ['sent', undefined],
    ['rejected', 'bot was blocked'],
    ['rejected', 'an earlier part was refused'],
  ])
  expect(rig.channel.visible(DM)).toEqual(['The first part of three has words.', 'next'])
})

test('while the adapter is not ready a message waits, without an attempt', async () => {
  const rig = await openRig()
  rig.up = false
  const { source } = rig.message('')
  await rig.say('patience', { source })
  await rig.pass(60_000)
  expect(await rig.rows(source)).toMatchObject([{ state: 'planned', attempt: 0 }])
  await rig.ready()
  expect(await rig.rows(source)).toMatchObject([{ state: 'sent', attempt: 1 }])
})

test('an adapter that goes down between plan and release costs no uncertainty', async () => {
  const rig = await openRig()
  const message = rig.message('patience')
  const planned = await rig.store.write((tx) => rig.delivery.plan(tx, message))
  rig.up = false
  rig.delivery.release(planned)
  await rig.delivery.idle()
  expect(await rig.rows(message.source)).toMatchObject([{ state: 'waiting' }])
  await rig.ready()
  expect(rig.channel.visible(DM)).toEqual(['patience'])
})

test('an adapter that is ready again while its lane is about to rest is not missed', async () => {
  const rig = await openRig()
  const planned = await rig.store.write((tx) => rig.delivery.plan(tx, rig.message('hello')))
  rig.up = false
  rig.delivery.release(planned)
  rig.up = true
  rig.delivery.ready('telegram', at(DM).account)
  await rig.delivery.idle()
  expect(rig.channel.visible(DM)).toEqual(['hello'])
})

test('a message for a lane that rests wakes it if its adapter is back', async () => {
  const rig = await openRig()
  rig.up = false
  await rig.say('one')
  rig.up = true
  await rig.say('two')
  await rig.delivery.idle()
  expect(rig.channel.visible(DM)).toEqual(['one', 'two'])
})

test.each([
  ['reply', 24 * 60],
  ['effect', 60],
  ['notice', 60],
  ['control', 15],
] as const)('an unsent %s expires after %d minutes and is never blasted out', async (as, minutes) => {
  const rig = await openRig()
  rig.up = false
  const [old, fresh] = [rig.message('').source, rig.message('').source]
  await rig.say('old', { source: old, class: as })
  await rig.pass(60_000)
  await rig.say('fresh', { source: fresh, class: as })
  await rig.pass((minutes - 1) * 60_000)
  await rig.ready()
  expect(await rig.rows(old)).toMatchObject([{ state: 'expired' }])
  expect(rig.channel.visible(DM)).toEqual(['fresh'])
})

test('F-A14: a lost answer to a reply is repeated once after ten seconds, marked', async () => {
  const rig = await openRig()
  rig.channel.fates.push(answerLost)
  const { source } = rig.message('')
  await rig.say('**hello**', { source })
  await rig.say('next')
  await rig.pass(9_900)
  expect(await rig.rows(source)).toMatchObject([{ state: 'uncertain' }])
  expect(rig.channel.visible(DM)).toEqual(['<b>hello</b>'])
  await rig.pass(200)
  expect(rig.channel.visible(DM)).toEqual(['<b>hello</b>', '(repeat) <b>hello</b>', 'next'])
  expect(await rig.rows(source)).toMatchObject([{ state: 'resent' }])
})

test('a repeat of unknown outcome is given up, never repeated again', async () => {
  const rig = await openRig()
  rig.channel.fates.push(answerLost, answerLost)
  const { source } = rig.message('')
  await rig.say('hello', { source })
  await rig.say('next')
  await rig.pass(60_000)
  expect(rig.channel.visible(DM)).toEqual(['hello', '(repeat) hello', 'next'])
  expect(await rig.rows(source)).toMatchObject([{ state: 'given_up' }])
})

test('F-A14: an effect of unknown outcome is never sent again and is listed', async () => {
  const rig = await openRig()
  rig.channel.fates.push(answerLost)
  const { source } = rig.message('')
  await rig.say('announcement', { source, class: 'effect' })
  await rig.pass(60_000)
  expect(rig.channel.calls).toHaveLength(1)
  expect(await rig.store.read.outbox.recent(['given_up'], 10)).toMatchObject([{ source, state: 'given_up' }])
})

test('a repeat that was not sent waits and still counts as resent', async () => {
  const rig = await openRig()
  rig.channel.fates.push(answerLost, unreachable)
  const { source } = rig.message('')
  await rig.say('hello', { source })
  await rig.pass(30_000)
  expect(rig.channel.visible(DM)).toEqual(['hello', '(repeat) hello'])
  expect(await rig.rows(source)).toMatchObject([{ state: 'resent', attempt: 3 }])
})

test('an uncertain conversation holds up no other', async () => {
  const rig = await openRig()
  rig.channel.fates.push(answerLost)
  await rig.say('lost')
  await rig.delivery.idle()
  await rig.say('elsewhere', { address: at(GROUP) })
  await rig.delivery.idle()
  expect(rig.channel.visible(GROUP)).toEqual(['elsewhere'])
})

test('F-C07: a chat that moved is followed once and its lane with it', async () => {
  const moves: unknown[] = []
  const to = at('telegram:group:-100200')
  const rig = await openRig({ moved: (from, target) => moves.push([from.chat, target.chat]) })
  rig.channel.fates.push(refused('upgraded', { movedTo: to }))
  await rig.say('hello', { address: at(GROUP) })
  await rig.say('again', { address: at(GROUP) })
  await rig.delivery.idle()
  expect(rig.channel.visible('telegram:group:-100200')).toEqual(['hello', 'again'])
  expect([moves, rig.channel.calls.length]).toEqual([[['-100', '-100200']], 3])
})

test('F-C07: rows that were given the new address meanwhile are followed there too', async () => {
  const to = at('telegram:group:-100200')
  const rig = await openRig()
  rig.up = false
  const [first] = (await rig.say('hello', { address: at(GROUP) })).entries
  if (!first) throw new Error('nothing was planned')
  await rig.store.write((tx) => tx.chatMoves.rewriteDelivery(first.id, to))
  await rig.ready()
  await rig.delivery.idle()
  expect(rig.channel.visible('telegram:group:-100200')).toEqual(['hello'])
})

test('an adapter that breaks its contract and throws leaves an unknown outcome', async () => {
  const rig = await openRig()
  const { source } = rig.message('')
  rig.channel.fates.push(broken('boom'))
  await rig.say('hello', { source })
  await rig.delivery.idle()
  expect(await rig.rows(source)).toMatchObject([{ state: 'uncertain', reason: 'boom' }])
})
