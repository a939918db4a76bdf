import { expect, it } from 'vitest'
import type { SessionEvent } from '../../../src/core/event.ts'
import type { SessionId, SourceId } from '../../../src/core/ids.ts'
import { isRepetition, isSaidAgain } from '../../../src/sessions/forgetting/shown-again.ts'
import type { SentRow } from '../../../src/store/forget-port.ts'
import { shownAgain } from './shown-again.ts'

const WORDS = 'the gate opens with zq9canary-4711 after dark'

it.each([
  ['assistant_step', { text: '', calls: [{ args: { to: [{ text: WORDS }] } }] }],
  ['tool_call', { args: { text: WORDS } }],
  ['approval_requested', { args: { text: WORDS } }],
  ['tool_result', { content: [{ type: 'text', text: WORDS }] }],
  ['delivery_retried', { text: WORDS }],
  ['delivery_failed', { text: WORDS, reason: '' }],
  ['delivery_failed', { text: '', reason: WORDS }],
  ['checkpoint_written', { working: WORDS }],
  ['history_boundary', { kind: 'replaced', exchanges: [{ user: WORDS, assistant: '' }] }],
  ['history_boundary', { kind: 'replaced', exchanges: [{ user: '', assistant: WORDS }] }],
  ['files_read', { files: [{ text: WORDS }] }],
  ['files_read', { files: [{ spoken: WORDS }] }],
  ['user_message', { text: WORDS, from: 'another' }],
  ['user_message', { text: '', data: WORDS }],
])('S41: words are found in %s, wherever they stand in it', (type, data) => {
  const again = shownAgain()
  again.tellings.add(WORDS, 1)
  expect(isRepetition(again, { seq: 1, at: 2, type, data } as unknown as SessionEvent)).toBe(true)
})

const HERE = 'telegram:here' as SessionId
const ELSEWHERE = 'telegram:elsewhere' as SessionId

/** Bob's hello goes, and what was said in one session. */
function hello() {
  const again = shownAgain({ isSaidIn: (session) => session === HERE })
  again.tellings.add('hello', 1, ['Bob'])
  return again
}

const resultOf = (shown: unknown): SessionEvent =>
  ({
    ...{ seq: 1, at: 2, type: 'tool_result' },
    data: { content: [{ type: 'text', text: JSON.stringify(shown) }], shows: [HERE] },
  }) as unknown as SessionEvent
const said = (from: string, text: string) => ({ role: 'user', text, timestamp: 1, from })

it.each([
  ['by whoever is forgotten', [said('Zoe', 'no'), said('Bob', 'hello')], true],
  ['with a line that Parley adds', [said('Bob', 'hello\n[photo]')], true],
  ['by whoever passes it on', [said('Zoe', '[forwarded from Bob] hello')], true],
  ['in the result of an earlier call', [{ role: 'toolResult', text: JSON.stringify([said('Bob', 'hello')]) }], true],
  ['by whoever is named in an answer', { status: 'ok', reply: 'Bob said hello.' }, true],
  ['by somebody in an answer', { status: 'ok', reply: 'They said hello.' }, false],
  ['by somebody else', [said('Zoe', 'hello'), said('Bob', 'bye')], false],
  ['by the agent', [said('Bob', 'bye'), { role: 'assistant', text: 'hello', timestamp: 1 }], false],
  ['beside it', { hello: 1, sessions: [said('Bob', 'bye')] }, false],
])('S41: a few words are known in a result as those of a message %s', (_where, shown, known) => {
  expect(isRepetition(hello(), resultOf(shown))).toBe(known)
})

it('S41: a few words are known in a list as the title of a conversation that has them', () => {
  const row = (sessionId: SessionId, displayName: string) => ({ key: 'k', sessionId, displayName, transcriptPath: 'p' })
  const isKnown = (...rows: object[]) => isRepetition(hello(), resultOf({ sessions: rows }))
  expect(isKnown(row(ELSEWHERE, 'bye'), row(HERE, 'Hello!'))).toBe(true)
  expect(isKnown(row(ELSEWHERE, 'hello'), row(HERE, 'bye'))).toBe(false)
  expect(isKnown(row(HERE, 'hello Kitty'))).toBe(false)
})

it('S41: a few words are known in a digest as those of a message by whoever is forgotten', () => {
  const isKnown = (...lines: string[]) => {
    const data = ['Messages of telegram:group:-100 since the last run:', ...lines].join('\n')
    return isRepetition(hello(), { seq: 1, at: 2, type: 'user_message', data: { text: '', data } } as SessionEvent)
  }
  expect(isKnown('> [2026-11-23 10:00] Zoe: no', '> [2026-11-23 10:01] Bob (telegram:group:-100/7): hello')).toBe(true)
  expect(isKnown('> [2026-11-23 10:00] Bob: all', '> hello')).toBe(true)
  expect(isKnown('> [2026-11-23 10:00] Zoe: hello', '> [2026-11-23 10:01] Bob: bye')).toBe(false)
})

it('S41: a few words are known in an answer as what it calls a conversation that has them', () => {
  const isKnown = (text: string, of: Partial<SentRow> = {}) =>
    isSaidAgain(hello(), { source: 'in_1' as SourceId, sessionId: HERE, text, at: 2, ...of } as SentRow)
  expect(isKnown(`1. bye (just now, in use) ${ELSEWHERE}\n2. hello (2 days ago) ${HERE}`)).toBe(true)
  expect(isKnown('This conversation is called: hello\n/title <text> changes that.')).toBe(true)
  expect(isKnown('In mind for this conversation: They say hello to all.')).toBe(true)
  expect(isKnown('In mind for this conversation: They say hello to all.', { sessionId: ELSEWHERE })).toBe(false)
  expect(isKnown(`1. hello (just now) ${ELSEWHERE}\n2. bye (2 days ago) ${HERE}`)).toBe(false)
  expect(isKnown('This conversation is called: hello', { sessionId: ELSEWHERE })).toBe(false)
  expect(isKnown('Say hello to me: `/help`.')).toBe(false)
  expect(isKnown('This conversation is called: hello', { source: 'turn_1' as SourceId })).toBe(false)
})

it.each([
  ['a\\north pole', 'Bob'],
  ['C:\\temp', 'Bob'],
  ['"role": zqxy', 'Bob'],
  ['zqxy', '\\nora'],
  ['zqxy\fhi', 'Bob'],
  ['zqxy\u0001hi', 'Bob'],
  ['they\nzqxy \\no', 'Bob'],
  ['привет', 'Боб'],
  ['zqxy', 'a.*(b)+$'],
  ['zqxy', '🦊'],
  ['🍆🍑', 'Bob'],
  ['❤️', '🦊'],
  ['🍆🍑'.repeat(9), 'Bob'],
])('S41: %j by %s is known in a result, however JSON writes it', (text, name) => {
  const again = shownAgain()
  again.tellings.add(text, 1, [name])
  const inner = [said('Zoe', 'no'), said(name, text)]
  const nested = (result: unknown) => [{ role: 'toolResult', text: JSON.stringify(result), timestamp: 1 }]
  const results = [inner, nested(inner), nested(nested(inner)), { sessions: [{ messages: inner }] }]
  expect(results.map((result) => isRepetition(again, resultOf(result)))).toEqual([true, true, true, true])
  expect(isRepetition(again, resultOf([said('Zoe', text), said(name, 'no')]))).toBe(false)
})

it('S41: a title that is cut within a long word is known as the beginning of what was said there', () => {
  const again = shownAgain({ isSaidIn: (session) => session === HERE })
  again.tellings.add(`look at https://docs.example.com/${'abc/'.repeat(60)} before nine`, 1)
  const title = `look at https://docs.example.com/${'abc/'.repeat(11)}a...`
  const isListed = (id: SessionId, shown = title) =>
    isSaidAgain(again, { source: 'in_1', sessionId: HERE, text: `1. ${shown} (just now) ${id}`, at: 2 } as SentRow)
  expect([isListed(HERE), isListed(ELSEWHERE), isListed(HERE, 'look at https://docs.example.com')]).toEqual([
    ...[true, false, false],
  ])
  const row = { sessionId: HERE, displayName: title, transcriptPath: 'p' }
  expect(isRepetition(again, resultOf({ sessions: [row] }))).toBe(true)
})

it.each([
  ['我告诉你们，他明天早上九点要去医院做手术，要住院', '小明明天早上九点要去医院做手术。', '明天早上九点去学校。'],
  ['あしたの朝九時に病院で手術をします。よろしく', 'ミンさんはあしたの朝九時に病院で手術です', 'あしたの朝は雨です'],
  ['พรุ่งนี้เช้าเก้าโมงฉันต้องไปผ่าตัด', 'เขาบอกว่าเช้าเก้าโมงฉันต้องไปผ่าตัด', 'พรุ่งนี้เช้าฝนตก'],
])('S41: a part of a text without spaces is known where it is repeated: %s', (text, part, other) => {
  const again = shownAgain()
  again.tellings.add(text, 1)
  const isKnown = (words: string) =>
    isRepetition(again, { seq: 1, at: 2, type: 'assistant_step', data: { text: words, calls: [] } } as never)
  expect([isKnown(part), isKnown(other)]).toEqual([true, false])
})

it.each([
  ['lists within lists', `${'['.repeat(100_000)}"\\\\"${']'.repeat(100_000)}`],
  ['messages with backslashes', JSON.stringify([...Array(100).keys()].map(() => said('Zoe', '\\"'.repeat(500))))],
  ['one short text again and again', JSON.stringify({ status: 'ok', reply: 'hello '.repeat(60_000) })],
  ['Chinese without a space', '中'.repeat(4_000_000)],
  ['marks above letters', `a${'\u0301\u0316'.repeat(2_000_000)}`],
])('S41: a result of %s is looked through as fast as any other', (_what, text) => {
  const data = { content: [{ type: 'text', text }], shows: [HERE] }
  expect(isRepetition(hello(), { seq: 1, at: 2, type: 'tool_result', data } as unknown as SessionEvent)).toBe(false)
})

it('S41: words are known in a result across its line breaks, and however far behind its beginning', () => {
  const again = shownAgain()
  again.tellings.add('the gate opens\nwith zq9 after dark', 1)
  expect(isRepetition(again, resultOf([said('Bob', 'the gate\nopens\nwith\nzq9 after')]))).toBe(true)
  const long = [said('Zoe', 'x '.repeat(30_000)), said('Bob', 'the gate opens with zq9 after dark')]
  expect(isRepetition(again, resultOf(long))).toBe(true)
})

it.each(['\\', '"sessionId":"x","displayName":"', '<@1|', '"number":1,"text":"', '"role":', '[', '{"a":', '\\"'])(
  'S41: a result of nothing but %s is looked through as fast as any other',
  (part) => {
    const text = part.repeat(200_000 / part.length)
    const data = { content: [{ type: 'text', text }], shows: [HERE] }
    expect(isRepetition(hello(), { seq: 1, at: 2, type: 'tool_result', data } as unknown as SessionEvent)).toBe(false)
  },
)
