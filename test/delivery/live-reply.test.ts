import { expect, test } from 'vitest'
import type { TraceId, TurnId } from '../../src/core/ids.ts'
import type { DeliveryReceipt } from '../../src/core/outbound.ts'
import type { LiveTurn } from '../../src/delivery/growing-message.ts'
import { deferred } from '../../src/rehearsal/deferred.ts'
import { answerLost, type Fate, refused, swallowed, unreachable } from './fake-channel.ts'
import { at, DM, openRig, type Rig, TELEGRAM } from './rig.ts'

function turnOf(rig: Rig, changes: Partial<LiveTurn> = {}): LiveTurn & { source: TurnId } {
  const turnId = rig.ids.turn()
  return {
    turnId,
    source: turnId,
    traceId: 'tr_1' as TraceId,
    address: at(DM),
    ...changes,
  }
}

/** A turn that has lasted long enough to be shown. */
async function shownTurn(
  rig: Rig,
  text: string,
): Promise<{
  source: TurnId
  push: (text: string) => Promise<void>
  settle: () => Promise<void>
  shown: () => string | undefined
}> {
  const turn = turnOf(rig)
  const live = rig.delivery.live(turn)
  const push = async (whole: string): Promise<void> => {
    live.push(whole)
    await rig.pass(1_000)
  }
  await push(text)
  return { source: turn.source, push, settle: () => live.settle(), shown: live.shown.bind(live) }
}

test('a turn that ends soon shows nothing early: one message, one send', async () => {
  const rig = await openRig()
  const turn = turnOf(rig)
  const live = rig.delivery.live(turn)
  live.push('Hel')
  await rig.pass(600)
  live.push('Hello')
  await live.settle()
  await rig.say('Hello', turn)
  await rig.pass(5_000)
  expect(rig.channel.calls.map(({ op, text }) => [op, text])).toEqual([['send', 'Hello']])
})

test('F-A04: a long turn shows its reply as it grows and ends in exactly one message', async () => {
  const rig = await openRig()
  const { source, push, settle } = await shownTurn(rig, 'Once upon')
  await push('Once upon a time')
  await settle()
  await rig.say('Once upon a time. The end.', { source })
  await rig.delivery.idle()
  expect(rig.channel.calls.map(({ op, text }) => [op, text])).toEqual([
    ['send', 'Once upon'],
    ['edit', 'Once upon a time'],
    ['edit', 'Once upon a time. The end.'],
  ])
  expect(await rig.rows(source)).toMatchObject([{ state: 'sent', op: 'edit', partNo: 0, messageId: 'm1' }])
})

test('T37: a line says what is done until the text grows; of a turn that then fails nothing was shown', async () => {
  const rig = await openRig()
  const live = rig.delivery.live(turnOf(rig))
  live.working('searching the web')
  await rig.pass(1_000)
  await live.settle()
  expect(live.shown()).toBe('')
  const other = rig.delivery.live(turnOf(rig, { address: at('telegram:direct:444') }))
  other.working('searching the web')
  other.push('')
  await rig.pass(1_000)
  other.push('It is')
  await rig.pass(1_000)
  expect(rig.channel.calls.map(({ text }) => text)).toEqual(['searching the web …', 'searching the web …', 'It is'])
})

test('the message of a growing reply is committed as sending before its first byte', async () => {
  const rig = await openRig()
  const seen: unknown[] = []
  const turn = turnOf(rig)
  const receipt = deferred<{ kind: 'sent'; messageId: string }>()
  rig.channel.fates.push({ receipt: receipt.promise, done: true })
  rig.delivery.live(turn).push('Hello')
  rig.clock.moveTo(rig.clock.nextDue() + 700)
  await rig.channel.called(1)
  seen.push(...(await rig.rows(turn.source)).map(({ state, attempt }) => [state, attempt]))
  receipt.resolve({ kind: 'sent', messageId: 'm1' })
  await rig.delivery.idle()
  expect(seen).toEqual([['sending', 1]])
})

test('edits come no faster than the platform allows, the newest text only', async () => {
  const rig = await openRig()
  const turn = turnOf(rig)
  const live = rig.delivery.live(turn)
  for (let count = 1; count <= 40; count++) {
    live.push('word '.repeat(count % 7 || 7).trim())
    await rig.pass(100)
  }
  const times = rig.channel.calls.map((call) => call.at)
  const gaps = times.slice(1).map((time, index) => time - (times[index] ?? 0))
  expect(times.length).toBe(4)
  expect(Math.min(...gaps)).toBeGreaterThanOrEqual(1_000)
})

test('S31: no part of a marker is ever visible, however the deltas are cut', async () => {
  const rig = await openRig()
  const turn = turnOf(rig)
  const live = rig.delivery.live(turn)
  const whole = 'Quiet <NO_<NO_REPLY>REPLY><EMPTY_RESPONSE> now'
  for (let end = 1; end <= whole.length; end++) {
    live.push(whole.slice(0, end))
    await rig.pass(1_000)
  }
  expect(rig.channel.calls.map(({ text }) => text).filter((text) => /[<&]|NO_|EMPTY/.test(text))).toEqual([])
  expect(rig.channel.visible(DM)).toEqual(['Quiet  now'])
})

test('S31: nothing is sent while the whole text could still be a marker', async () => {
  const rig = await openRig()
  await shownTurn(rig, '<NO_REP')
  expect(rig.channel.calls).toEqual([])
})

test('S28: a reply that ends as a marker takes back what was shown', async () => {
  const rig = await openRig()
  const { source, settle } = await shownTurn(rig, 'Let me see')
  await settle()
  const planned = await rig.say('<NO_REPLY>', { source })
  await rig.delivery.idle()
  expect([planned.outcome, rig.channel.visible(DM)]).toEqual(['silent', []])
  expect(await rig.rows(source)).toMatchObject([{ op: 'delete', state: 'sent' }])
})

test('T31: a reply denied in the end takes back what was shown', async () => {
  const rig = await openRig()
  const { source, settle } = await shownTurn(rig, 'Let me see')
  await settle()
  rig.verdict = { allowed: false, because: 'override' }
  const planned = await rig.say('I see', { source })
  await rig.delivery.idle()
  expect([planned.outcome, rig.channel.visible(DM)]).toEqual(['denied', []])
})

test('T31: a denied session shows nothing while its turn runs', async () => {
  const rig = await openRig()
  rig.verdict = { allowed: false, because: 'override' }
  await shownTurn(rig, 'Let me see')
  expect(rig.channel.calls).toEqual([])
})

test('a reply longer than one part shows its first part; the others follow it in order', async () => {
  const rig = await openRig()
  const parts = [
    'The first part of three has words.',
    'The second part of three has words.',
    'The third part of three has words.',
  ]
  const { source, push, settle } = await shownTurn(rig, parts[0] ?? '')
  await push(parts.join('\n\n'))
  await settle()
  await rig.say(parts.join('\n\n'), { source })
  await rig.delivery.idle()
  expect(rig.channel.visible(DM)).toEqual(parts)
  expect(rig.channel.calls.map(({ op }) => op)).toEqual(['send', 'send', 'send'])
})

test.each<[string, Fate]>([
  ['not sent', unreachable],
  ['refused', refused('no rights')],
  ['told to wait', refused('flood', { retryAfterMs: 3_000 })],
])('a first message that was %s ends the show and the answer is sent whole', async (_, fate) => {
  const rig = await openRig()
  rig.channel.fates.push(fate)
  const { source, push, settle } = await shownTurn(rig, 'Hel')
  await push('Hello')
  expect(rig.channel.calls).toHaveLength(1)
  await settle()
  await rig.say('Hello there', { source })
  await rig.pass(5_000)
  expect(rig.channel.visible(DM)).toEqual(['Hello there'])
})

test.each<[string, Fate, readonly string[]]>([
  ['arrived', answerLost, ['Hel', '(repeat) Hello there']],
  ['got lost', swallowed, ['(repeat) Hello there']],
])(
  'F-A04: a first message of unknown outcome that %s is reconciled with the whole answer',
  async (_, fate, visible) => {
    const rig = await openRig()
    rig.channel.fates.push(fate)
    const { source, settle } = await shownTurn(rig, 'Hel')
    await settle()
    await rig.say('Hello there', { source })
    await rig.pass(20_000)
    expect(rig.channel.visible(DM)).toEqual(visible)
    expect(await rig.rows(source)).toMatchObject([{ state: 'resent' }])
  },
)

test('a final edit of unknown outcome is simply done again', async () => {
  const rig = await openRig()
  const { source, settle } = await shownTurn(rig, 'Hel')
  await settle()
  rig.channel.fates.push(swallowed, answerLost)
  await rig.say('Hello there', { source })
  await rig.pass(30_000)
  expect(rig.channel.visible(DM)).toEqual(['Hello there'])
  expect(await rig.rows(source)).toMatchObject([{ state: 'sent', op: 'edit', attempt: 4 }])
})

test('an edit that stays unknown for a minute becomes one marked message and frees the conversation', async () => {
  const rig = await openRig()
  const { source, settle } = await shownTurn(rig, 'Hel')
  await settle()
  rig.channel.rule = (op) => (op === 'edit' ? swallowed : undefined)
  await rig.say('Hello there', { source })
  await rig.say('next')
  await rig.pass(59_000)
  expect(rig.channel.visible(DM)).toEqual(['Hel'])
  await rig.pass(1_000)
  expect(rig.channel.visible(DM)).toEqual(['Hel', '(repeat) Hello there', 'next'])
  expect(await rig.rows(source)).toMatchObject([{ state: 'resent', op: 'send' }])
})

test('an answer that ends as it is shown is no further call, and keeps no slot from what is said next', async () => {
  const rig = await openRig({ limits: TELEGRAM })
  const { source, push, settle } = await shownTurn(rig, 'Once')
  await push('Once upon')
  await push('Once upon a time')
  await settle()
  await rig.say('Once upon a time  ', { source })
  await rig.delivery.idle()
  const last = rig.clock.now()
  await rig.say('next')
  await rig.pass(0)
  expect(rig.channel.calls.map(({ op }) => op)).toEqual(['send', 'edit', 'edit', 'send'])
  expect(rig.channel.calls.at(-1)).toMatchObject({ text: 'next', at: last })
  expect(await rig.rows(source)).toMatchObject([{ state: 'sent', op: 'edit', messageId: 'm1' }])
})

test.each<[string, Fate]>([
  ['was lost', swallowed],
  ['was refused', refused('no edits now')],
])('an answer whose last text %s in the preview is edited in, for nobody knows what is shown', async (_, fate) => {
  const rig = await openRig()
  const { source, push, settle } = await shownTurn(rig, 'Hel')
  rig.channel.fates.push(fate)
  await push('Hello')
  await settle()
  await rig.say('Hello', { source })
  await rig.delivery.idle()
  expect(rig.channel.calls.map(({ op }) => op)).toEqual(['send', 'edit', 'edit'])
  expect(rig.channel.visible(DM)).toEqual(['Hello'])
})

test('an answer that is shown but for its buttons is edited', async () => {
  const rig = await openRig()
  const { source, settle } = await shownTurn(rig, 'Shall I?')
  await settle()
  await rig.say('Shall I?', { source, buttons: [{ label: 'Yes', command: '/yes' }] })
  await rig.delivery.idle()
  expect(rig.channel.calls.map(({ op }) => op)).toEqual(['send', 'edit'])
})

test('a message that is gone when the final edit comes is sent anew', async () => {
  const rig = await openRig()
  const { source, settle } = await shownTurn(rig, 'Hel')
  await settle()
  rig.channel.fates.push(refused('message to edit not found'))
  await rig.say('Hello there', { source })
  await rig.delivery.idle()
  expect(rig.channel.calls.map(({ op }) => op)).toEqual(['send', 'edit', 'send'])
  expect(await rig.rows(source)).toMatchObject([{ state: 'sent', op: 'send', messageId: 'm2' }])
})

test('S41: a final edit that is refused once its session is deleted is not sent anew', async () => {
  const rig = await openRig()
  const { source, settle } = await shownTurn(rig, 'Hel')
  await settle()
  const answered = deferred<DeliveryReceipt>()
  rig.channel.fates.push({ receipt: answered.promise, done: false })
  await rig.say('Hello there', { source })
  await rig.channel.called(2)
  await rig.store.write((tx) => tx.outbox.blank(source))
  answered.resolve({ kind: 'rejected', reason: 'message to edit not found' })
  await rig.pass(60_000)
  expect(rig.channel.calls.map(({ op }) => op)).toEqual(['send', 'edit'])
  expect(await rig.rows(source)).toMatchObject([{ state: 'given_up', part: { text: '', plain: '' } }])
})

test('settle waits for the call in flight, so that the final edit is the last', async () => {
  const rig = await openRig()
  const live = rig.delivery.live(turnOf(rig))
  live.push('Hel')
  await rig.pass(1_000)
  const receipt = deferred<{ kind: 'sent'; messageId: string }>()
  rig.channel.fates.push({ receipt: receipt.promise, done: true })
  live.push('Hello')
  rig.clock.moveTo(rig.clock.now() + 1_000)
  await rig.channel.called(2)
  const order: string[] = []
  const settled = live.settle().then(() => order.push('settled'))
  order.push('answered')
  receipt.resolve({ kind: 'sent', messageId: 'm1' })
  await settled
  expect(order).toEqual(['answered', 'settled'])
})

test('settle gives up on a call that never returns, and a late answer changes nothing', async () => {
  const rig = await openRig({ settings: { liveSettleMs: 5_000 } })
  const turn = turnOf(rig)
  const receipt = deferred<{ kind: 'sent'; messageId: string }>()
  rig.channel.fates.push({ receipt: receipt.promise, done: true, deaf: true })
  const live = rig.delivery.live(turn)
  live.push('Hel')
  rig.clock.moveTo(rig.clock.now() + 700)
  live.push('Hell')
  await rig.channel.called(1)
  const settled = live.settle()
  rig.clock.moveTo(rig.clock.now() + 5_000)
  await settled
  const planned = await rig.store.write((tx) => rig.delivery.plan(tx, { ...rig.message('Hello'), source: turn.source }))
  receipt.resolve({ kind: 'sent', messageId: 'm1' })
  await rig.delivery.idle()
  rig.delivery.release(planned)
  await rig.pass(20_000)
  expect(rig.channel.visible(DM)).toEqual(['Hel', '(repeat) Hello'])
})

test('edits are dropped where the limiter has no slot, and leave one for the answer', async () => {
  const rig = await openRig({ limits: TELEGRAM })
  const turn = turnOf(rig, { address: at('telegram:group:-5') })
  const live = rig.delivery.live(turn)
  for (let second = 1; second <= 60; second++) {
    live.push('word '.repeat((second % 7) + 1).trim())
    await rig.pass(1_000)
  }
  await live.settle()
  const edits = rig.channel.calls.length
  await rig.say('Done.', { ...turn, source: turn.turnId })
  await rig.delivery.idle()
  expect(edits).toBeLessThanOrEqual(18)
  expect(rig.channel.visible('telegram:group:-5')).toEqual(['Done.'])
})

test('an account that does not stream shows no growing reply', async () => {
  const rig = await openRig({ streams: () => false })
  const { push, settle } = await shownTurn(rig, 'Once upon')
  await push('Once upon a time')
  await settle()
  expect(rig.channel.calls).toEqual([])
})

test('a turn that ends while the store is asked what it had shown shows nothing any more', async () => {
  const rig = await openRig()
  const turn = turnOf(rig)
  const live = rig.delivery.live(turn)
  rig.clock.moveTo(rig.clock.now() + 1_000)
  live.push('Hello')
  await live.settle()
  expect(rig.channel.calls).toEqual([])
  expect(await rig.rows(turn.source)).toEqual([])
})

test('what was shown of an answer that breaks off stays, all of it that came, and its line goes below by an edit', async () => {
  const rig = await openRig()
  const { source, push, settle, shown } = await shownTurn(rig, 'Once upon')
  await push('Once upon a time <NO_REP')
  await settle()
  expect(shown()).toBe('Once upon a time')
  await rig.say('It broke off.', { source, class: 'notice', below: { shown: 'Once upon a time' } })
  await rig.delivery.idle()
  expect(rig.channel.visible(DM)).toEqual(['Once upon a time\n\nIt broke off.'])
  expect(rig.channel.calls.map(({ op }) => op)).toEqual(['send', 'edit', 'edit'])
})

test('what came after the last edit was refused belongs to what was shown', async () => {
  const rig = await openRig()
  const { push, settle, shown } = await shownTurn(rig, 'Once upon')
  rig.channel.fates.push(refused('no edits here'))
  await push('Once upon a time')
  await push('Once upon a time there was')
  await settle()
  expect(shown()).toBe('Once upon a time there was')
})

test.each([
  ['nothing was sent yet', 'Once', undefined],
  ['the send was refused', 'Once', refused('not here')],
  ['all of it could be a marker', '<NO_REP', undefined],
] as const)('nothing counts as shown where %s', async (_, text, fate) => {
  const rig = await openRig()
  const live = rig.delivery.live(turnOf(rig))
  if (fate) rig.channel.fates.push(fate)
  live.push(text)
  if (fate || text.startsWith('<')) await rig.pass(1_000)
  await live.settle()
  expect(live.shown()).toBeUndefined()
})

test('F-A04: a line below what a dead process had shown is a message of its own, and what stood there stays', async () => {
  const rig = await openRig()
  const { source, push } = await shownTurn(rig, 'Once upon')
  await push('Once upon a time')
  await rig.crash()
  await rig.ready()
  await rig.say('It broke off.', { source, class: 'notice', below: {} })
  await rig.delivery.idle()
  expect(rig.channel.visible(DM)).toEqual(['Once upon a time', 'It broke off.'])
  expect(await rig.rows(source)).toMatchObject([
    { op: 'send', partNo: 0, messageId: 'm1', state: 'sent' },
    { op: 'send', partNo: 1, messageId: 'm2', state: 'sent' },
  ])
})

test('a line below nothing is the first message', async () => {
  const rig = await openRig()
  await rig.say('It broke off.', { source: rig.ids.turn(), class: 'notice', below: {} })
  await rig.delivery.idle()
  expect(rig.channel.visible(DM)).toEqual(['It broke off.'])
})

test('T31: what was shown is taken back with a line below it that is denied', async () => {
  const rig = await openRig()
  const { source, settle } = await shownTurn(rig, 'Let me see')
  await settle()
  rig.verdict = { allowed: false, because: 'rule "quiet"' }
  await rig.say('It broke off.', { source, class: 'notice', below: { shown: 'Let me see' } })
  await rig.delivery.idle()
  expect(rig.channel.visible(DM)).toEqual([])
})
