import { expect, it } from 'vitest'
import type { Address } from '../../../src/core/address.ts'
import { approvedCallId } from '../../../src/core/approval.ts'
import type { EventType, SessionEvent } from '../../../src/core/event.ts'
import type { TurnId } from '../../../src/core/ids.ts'
import { type MediaId, toSessionId } from '../../../src/core/ids.ts'
import type { Session } from '../../../src/core/session.ts'
import { pausing, type RunningRows } from '../../../src/sessions/forgetting/forget-reader.ts'
import type { Matches } from '../../../src/sessions/forgetting/matches.ts'
import type { LogOrigin } from '../../../src/sessions/forgetting/origin.ts'
import { OwnTexts } from '../../../src/sessions/forgetting/own-quotes.ts'
import { SessionScan } from '../../../src/sessions/forgetting/scan-session.ts'
import { CHANNELS } from '../../fakes/channels.ts'
import { group, user } from '../../fakes/dispatch.ts'
import { shownAgain } from './shown-again.ts'

const ID = toSessionId('telegram:2026-11-23-00000001')
const FROM = toSessionId('telegram:2026-11-23-00000002')
const WORDS = 'the gate opens with zq9canary-4711 after dark'

/** Messages of Ada are meant, what was passed on from her, and everything where `whole`. */
const matches = (whole = false): Matches => ({
  isMessage: ({ sender }) => sender.id === '111',
  quotes: ({ quoted, forwarded }) => [quoted?.sender?.id, forwarded?.from?.id].includes('111'),
  isWhole: () => whole,
  isReceived: () => false,
  isSent: () => false,
  moves: [],
})

const event = (seq: number, type: EventType, data: object, turn?: string): SessionEvent =>
  ({ seq, at: seq, type, data, ...(turn === undefined ? {} : { turnId: turn }) }) as unknown as SessionEvent
const message = (seq: number, from: string, data: object = {}): SessionEvent =>
  event(seq, 'user_message', { text: WORDS, sender: user(from), triggers: true, messageId: `m${seq}`, ...data })
const answer = (seq: number, turn: string, text = 'fine'): SessionEvent =>
  event(seq, 'assistant_message', { text }, turn)

interface Scanned {
  readonly running?: RunningRows
  readonly origins?: readonly LogOrigin[]
  readonly whole?: boolean
  readonly session?: Partial<Session>
  /** The chats whose message 7, which is ours, goes. */
  readonly ours?: readonly Address[]
  /** Entries of memory go. */
  readonly entry?: boolean
  /** The events that come once all of the log was read. */
  readonly later?: readonly SessionEvent[]
}

/** The plan for a log, and the turns that are to be deleted in their chats. */
async function planned(log: readonly SessionEvent[], options: Scanned = {}) {
  const { running, origins, whole, session, ours = [], entry = false, later = [] } = options
  const own: LogOrigin = { upTo: 1_000, session: ID, log: ID, address: group(), joined: false, heldIn: [] }
  const named = { id: ID, description: '', descriptionSource: 'fallback', lastActivityAt: 1_000, ...session } as Session
  const scan = new SessionScan({
    session: named,
    origins: [...(origins ?? []), own],
    matches: matches(whole),
    again: shownAgain(),
  })
  for (const events of [log, later]) {
    scan.find(events)
    scan.follow(events)
  }
  const texts = new OwnTexts(CHANNELS)
  for (const address of ours) texts.add({ address, messageId: '7', at: 1 })
  const plan = await pausing(
    scan.plan({ own: texts, posts: new Set<string>(), titles: new Set(), entry, isUnnamed: false }, running),
    async () => {},
  )
  const [turns, repeating] = [[...scan.turns.keys()], [...scan.repeating]]
  return { ...plan, empty: plan?.empty.toReversed(), turns, repeating, planned: plan?.turns }
}

it('S41: a turn that answers what is meant goes with it; in an older log that is what was said since the last turn', async () => {
  const older = (rows?: readonly string[]) => [
    message(1, '111', { row: 'in_1' }),
    event(2, 'turn_started', rows ? { rows } : {}, 'one'),
    answer(3, 'one'),
    message(4, '444', { row: 'in_2', text: 'something else' }),
    event(5, 'turn_started', rows ? { rows: ['in_2'] } : {}, 'two'),
    answer(6, 'two'),
  ]
  for (const log of [older(), older(['in_1'])])
    expect(await planned(log)).toMatchObject({ empty: [1, 3], turns: ['one'] })
  const overheard = [message(1, '111', { triggers: false }), event(2, 'turn_started', {}, 'one'), answer(3, 'one')]
  expect(await planned(overheard)).toMatchObject({ empty: [1], turns: [] })
})

it('S41: the answers of a session that is there still are emptied in its copy and deleted in no chat', async () => {
  const origin: LogOrigin = { upTo: 3, session: FROM, log: ID, address: group('-200'), joined: false, heldIn: [] }
  const log = [
    message(1, '111', { row: 'in_1' }),
    event(2, 'turn_started', { rows: ['in_1'] }, 'there'),
    answer(3, 'there'),
    message(4, '111', { row: 'in_2', text: 'another thing' }),
    event(5, 'turn_started', { rows: ['in_2'] }, 'here'),
    answer(6, 'here'),
    // It repeats what was said in the other session, and is that session's to forget.
    answer(7, 'later', `Cy says: ${WORDS}`),
  ]
  expect(await planned(log, { origins: [origin] })).toMatchObject({
    empty: [1, 3, 4, 6],
    turns: ['here'],
    repeating: [],
  })
  // What came from a session that is gone is this one's.
  const { address: _gone, ...gone } = origin
  expect(await planned(log, { origins: [gone] })).toMatchObject({ turns: ['there', 'here'], repeating: ['later'] })
})

const asking = (turn: string, seq: number) => event(seq, 'approval_requested', { code: 'k1', args: { to: 'cy' } }, turn)
const given = (turn: string, seq: number) =>
  event(seq, 'assistant_step', { text: '', calls: [{ callId: approvedCallId('k1'), tool: 'pay', args: {} }] }, turn)

it('S41: a call that was allowed late goes with the turn that asked, wherever that stands', async () => {
  const log = (from: string, text = WORDS) => [
    message(1, from, { row: 'in_1', text }),
    event(2, 'turn_started', { rows: ['in_1'] }, 'asks'),
    asking('asks', 3),
    given('late', 4),
    answer(5, 'late', 'done'),
  ]
  expect(await planned(log('111'))).toMatchObject({ empty: [1, 3, 4, 5], turns: ['asks', 'late'] })
  const origin: LogOrigin = { upTo: 3, session: FROM, log: ID, address: group('-200'), joined: false, heldIn: [] }
  expect(await planned(log('111'), { origins: [origin] })).toMatchObject({ empty: [1, 3, 4, 5], turns: [] })
  // The turn of somebody else repeats what is meant, and so does the call that it has asked for.
  const repeating = [
    message(1, '111'),
    answer(2, 'asks', WORDS),
    ...[asking('asks', 3), given('late', 4), answer(5, 'late')],
  ]
  expect(await planned(repeating)).toMatchObject({ empty: [1, 2, 3, 4, 5], repeating: ['asks', 'late'] })
})

it('S41: what a turn read of a file goes with the file’s own message, and not with one that quotes it', async () => {
  const read = event(2, 'files_read', { files: [{ ref: 'f1', text: 'inside', media: { media: 'sha' as MediaId } }] })
  const log = (quoted: boolean) => [
    message(1, '111', { text: '', attachments: [{ ref: 'f1', ...(quoted && { quoted }) }] }),
    read,
  ]
  expect(await planned(log(false))).toMatchObject({ empty: [1, 2], media: ['sha'] })
  expect(await planned(log(true))).toMatchObject({ empty: [1], media: [] })
})

it('S41: of what a turn was shown of several people that of others stays, whatever is in it, and what is quoted goes', async () => {
  const file = (ref: string) => ({ ref, text: WORDS, media: { media: `sha-${ref}` as MediaId } })
  const own = (from: string, data: object = {}) => ({ text: WORDS, sender: user(from), ...data })
  const log = [
    message(1, '111', { attachments: [{ ref: 'f1' }] }),
    message(2, '444', { text: 'mine', attachments: [{ ref: 'f2' }] }),
    event(3, 'files_read', { files: [file('f2'), file('f1')] }, 'one'),
    event(4, 'thread_read', { messages: [own('111'), own('444', { quoted: { messageId: 'm1', own: false } })] }, 'one'),
    event(5, 'context_compacted', { text: 'short', back: 1 }),
  ]
  expect(await planned(log)).toMatchObject({
    empty: [1, 5],
    media: ['sha-f1'],
    repeating: [],
    parts: [
      { seq: 4, places: [0] },
      { seq: 3, places: [1] },
    ],
  })
  const running = { turn: 'one' as TurnId, messages: [' m2'] }
  expect(await planned(log, { running })).not.toHaveProperty('parts')
})

it('S41: a summary goes that covers what is meant, to its last event, and none of later ones', async () => {
  const summary = (seq: number, back: number) => event(seq, 'context_compacted', { text: 'short', back })
  expect(await planned([summary(1, 1), message(2, '111'), summary(3, 1), summary(4, 4)])).toMatchObject({
    empty: [2, 3],
  })
})

it('S41: the events of a turn that runs, and the messages that it took, go once it has ended', async () => {
  const log = [
    message(1, '111', { row: 'in_1' }),
    event(2, 'turn_started', { rows: ['in_1'] }, 'one'),
    answer(3, 'one'),
    message(4, '111', { row: 'in_2' }),
    event(5, 'turn_started', { rows: ['in_2'] }, 'two'),
    event(6, 'assistant_step', { text: 'so far', calls: [] }, 'two'),
  ]
  const running = { turn: 'two' as TurnId, messages: [' m4'] }
  expect(await planned(log, { running })).toMatchObject({
    empty: [1, 3],
    running: { turn: 'two', empty: [6, 4] },
    planned: ['one'],
  })
})

it('S41: a message of another chat of the session goes at once, whatever a turn has taken that has its number', async () => {
  const log = [
    message(1, '111', { messageId: '5', chat: 'telegram:group:-1' }),
    message(2, '444', { messageId: '5', chat: 'telegram:group:-2', row: 'in_2', text: 'something else' }),
    event(3, 'turn_started', { rows: ['in_2'] }, 'one'),
  ]
  const running = { turn: 'one' as TurnId, messages: ['telegram:group:-2 5'] }
  expect(await planned(log, { running })).toMatchObject({ empty: [1], running: { turn: 'one', empty: [] } })
})

it('S41: a title that a person has given stays, unless it repeats what is meant', async () => {
  const of = async (session: Partial<Session>) => (await planned([message(1, '111')], { session })).unnamed
  expect(await of({ descriptionSource: 'user', description: 'The garden' })).toBe('preview')
  expect(await of({ descriptionSource: 'user', description: 'zq9canary-4711' })).toBe('description')
  expect(await of({ descriptionSource: 'ai', description: 'The garden' })).toBe('description')
})

it('S41: a turn that runs goes along only if it was shown some of it, by whatever way', async () => {
  const running = { turn: 'one' as TurnId, messages: [' m1'] }
  const begun = [
    message(1, '444', { row: 'in_1', text: 'something else' }),
    event(2, 'turn_started', { rows: ['in_1'] }, 'one'),
  ]
  const result = (seq: number, shows: readonly string[]) =>
    event(seq, 'tool_result', { callId: 'c', tool: 't', content: [], isError: false, shows }, 'one')
  const runs = async (log: readonly SessionEvent[]) => (await planned(log, { running })).running !== undefined
  expect(await runs([...begun, message(3, '111')])).toBe(false)
  expect(await runs([...begun, message(3, '111'), event(4, 'turn_steered', { rows: [] }, 'one')])).toBe(true)
  expect(await runs([...begun, message(3, '111'), result(4, [ID])])).toBe(true)
  expect(await runs([...begun, message(3, '111'), result(4, ['another'])])).toBe(false)
  expect(await runs([message(0, '111'), ...begun])).toBe(true)
  expect(await runs([...begun, message(3, '111'), answer(4, 'one', WORDS)])).toBe(true)
  const thread = event(3, 'thread_read', { messages: [{ messageId: 'm9', sender: user('111'), text: WORDS }] }, 'one')
  expect(await runs([...begun, thread])).toBe(true)
  expect((await planned([...begun, message(3, '111')], { running, entry: true })).running).toMatchObject({
    turn: 'one',
  })
})

it('S41: an answer that goes is quoted no more by what was read with a thread', async () => {
  const quoting = {
    messageId: 'm9',
    sender: user('444'),
    text: 'so?',
    quoted: { messageId: '7', text: 'mine', own: true },
  }
  const log = [
    event(1, 'thread_read', { messages: [{ messageId: 'm8', sender: user('444'), text: 'hm' }, quoting] }, 'one'),
  ]
  expect(await planned(log, { ours: [group()] })).toMatchObject({
    empty: [],
    parts: [{ seq: 1, places: [], quotes: [1] }],
  })
})

it('S41: a message that quotes an answer that goes loses that, a description that is made of it goes, and so does what runs', async () => {
  const quoted = { messageId: '7', text: 'mine', own: true }
  const asks = message(1, '444', { row: 'in_1', text: 'so?', quoted })
  const ours = [group()]
  const running = { turn: 'one' as TurnId, messages: [] }
  const log = [asks, event(2, 'turn_started', { rows: ['in_1'] }, 'one')]
  const of = (descriptionSource: Session['descriptionSource']) =>
    planned(log, { ours, running, session: { descriptionSource, description: 'The garden' } })
  expect(await of('ai')).toMatchObject({ cut: [1], unnamed: 'description', running: { turn: 'one' } })
  expect(await of('fallback')).toMatchObject({ cut: [1], unnamed: 'preview' })
})

it('S41: a description made of a message goes with what that passed on, and stays where it only quotes', async () => {
  const of = async (data: object) => (await planned([message(1, '444', data)])).unnamed
  expect(await of({ forwarded: { from: user('111') } })).toBe('description')
  expect(await of({ quoted: { messageId: 'm0', text: 'mine', own: false, sender: user('111') } })).toBe('preview')
})

it('S41: a text of another session that repeats what is meant goes with the turn that takes it later', async () => {
  const log = [message(1, '111'), message(2, '444', { row: 'in_2', from: 'another' })]
  const later = [event(3, 'turn_started', { rows: ['in_2'] }, 'two'), answer(4, 'two')]
  expect(await planned(log, { later })).toMatchObject({ empty: [1, 2, 4], repeating: ['two'] })
})

it('S41: a summary that stands for a thread of several people goes with what one of them has said there', async () => {
  const said = (from: string) => ({ messageId: `m${from}`, sender: user(from), text: `words of ${from}` })
  const log = [
    event(1, 'thread_read', { messages: [said('111'), said('444')] }, 'one'),
    event(2, 'context_compacted', { text: 'short', back: 1 }),
    event(3, 'context_compacted', { text: 'shorter', back: 3 }),
  ]
  expect(await planned(log)).toMatchObject({ empty: [2], parts: [{ seq: 1, places: [0] }] })
})
