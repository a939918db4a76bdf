import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { DOORS } from '../../../src/core/doors.ts'
import type { SessionEvent } from '../../../src/core/event.ts'
import { BUNDLE_VERSION, type BundleLine, BundleWriter } from '../../../src/sessions/export/bundle-lines.ts'
import { readBundle } from '../../../src/sessions/export/read-bundle.ts'
import { sessionDraft } from '../../store/sample-rows.ts'

const SESSION = {
  ...sessionDraft(1),
  ...{
    createdAt: 1,
    description: 'hello',
    descriptionSource: 'fallback',
    overrides: {},
    participants: [],
    authors: [],
  },
}
const EVENT = { seq: 1, at: 1, type: 'session_started', data: { agent: 'main' } }

/** A bundle with its right checksum, whatever is in it: that proves nothing about who wrote it. */
function bundle(session: unknown, ...events: readonly unknown[]): string {
  const writer = new BundleWriter()
  const lines = [
    { kind: 'session', version: BUNDLE_VERSION, session },
    ...events.map((event) => ({ kind: 'event', event })),
  ] as readonly BundleLine[]
  return `${lines.map((line) => writer.line(line)).join('')}${writer.end()}`
}

it('a bundle of the known form is read, with fields that nobody here knows', () => {
  const later = { ...EVENT, data: { ...EVENT.data, mood: 'calm' } }
  expect(readBundle(bundle(SESSION, later)).events).toEqual([later])
})

it('K32: a mark of the encoding before it is none of its text', () => {
  expect(readBundle(`\uFEFF${bundle(SESSION, EVENT)}`)).toEqual(readBundle(bundle(SESSION, EVENT)))
})

it.each([600, 100_000])('K32: one with %i levels in a line is refused in words', (levels) => {
  const writer = createHash('sha256')
  const head = bundle(SESSION).split('\n')[0]
  const deep = `{"event":{"seq":1,"at":1,"type":"session_started","data":{"agent":"main","x":${'['.repeat(levels)}${']'.repeat(levels)}}},"kind":"event"}`
  const body = `${head}\n${deep}\n`
  const end = JSON.stringify({ kind: 'end', lines: 2, sha256: writer.update(body).digest('hex') })
  expect(() => readBundle(`${body}${end}\n`)).toThrow(
    'The file cannot be imported: its line 2 is too long. The JSON has more than 500',
  )
})

const STEP = { text: 'x', model: 'm', usage: { input: 0, output: 0 }, calls: [] }
const OPAQUE = { model: 'anthropic/m', tokens: 5, data: [{ type: 'thinking', thinking: 'hm', signature: 's' }] }
const stepWith = (opaque: unknown) => ({ seq: 1, at: 1, type: 'assistant_step', data: { ...STEP, opaque } })

it.each<[string, unknown]>([
  ['thoughts', OPAQUE],
  ['none', { ...OPAQUE, data: [] }],
  ['data of a later form', { ...OPAQUE, data: { reasoning: null } }],
  ['a field of a later version', { ...OPAQUE, form: 2 }],
])('C26: a step with %s in its opaque fields is read as it was written', (_, opaque) => {
  expect(readBundle(bundle(SESSION, stepWith(opaque))).events).toEqual([stepWith(opaque)])
})

describe('C26: opaque fields of another form, or larger than any of this store, are refused', () => {
  it.each<[string, unknown]>([
    ['null', null],
    ['a text', 'thoughts'],
    ['a list', [OPAQUE]],
    ['no model', { tokens: 5, data: [] }],
    ['a model that is none', { ...OPAQUE, model: { id: 'm' } }],
    ['no count', { model: 'm', data: [] }],
    ['a negative count', { ...OPAQUE, tokens: -1 }],
    ['half a token', { ...OPAQUE, tokens: 0.5 }],
    ['a count that is too large', { ...OPAQUE, tokens: 1e300 }],
    ['a count in words', { ...OPAQUE, tokens: 'all' }],
    ['no data', { model: 'm', tokens: 0 }],
    ['too much of a later version', { ...OPAQUE, form: 'x'.repeat(1_000_000) }],
    ['too much data', { ...OPAQUE, data: 'x'.repeat(1_000_000) }],
    ['too many levels', { ...OPAQUE, data: JSON.parse(`${'['.repeat(200)}${']'.repeat(200)}`) }],
  ])('%s', (_, opaque) => {
    expect(() => readBundle(bundle(SESSION, stepWith(opaque)))).toThrow('its assistant_step has a form')
  })
})

describe('an event of another form is refused, for every prompt of its session would fail', () => {
  const said = { text: 'hi', sender: { id: '1', kind: 'user' }, owner: false, addressed: true, triggers: true }
  it.each<[SessionEvent['type'], unknown]>([
    ['user_message', {}],
    ['user_message', { ...said, sender: null }],
    ['user_message', { ...said, quoted: { messageId: '1', own: false, sentAt: 0.5 } }],
    ['user_message', { ...said, quoted: { messageId: '1', own: false, sentAt: 1e308 } }],
    ['assistant_message', { text: 'x', model: 'm', usage: { input: -1e9, output: 0 } }],
    ['assistant_message', { text: 'x', model: 'm', usage: { input: 0, output: 0, cacheRead: 'all' } }],
    ['user_message', { ...said, text: 5 }],
    ['user_message', { ...said, attachments: [{ ref: 'x', media: { type: 'image', media: '/etc/passwd' } }] }],
    ['message_edited', {}],
    ['assistant_step', { text: 'x', model: 'm', usage: { input: 0, output: 0 } }],
    ['assistant_message', { text: 'x' }],
    ['tool_result', { callId: 'c', tool: 't', content: 'text', isError: false }],
    ['turn_completed', { outcome: 'great' }],
    ['history_boundary', { kind: 'replaced' }],
    ['history_boundary', { kind: 'other' }],
    ['context_compacted', {}],
    ['checkpoint_written', { working: 5 }],
    ['thread_read', {}],
    ['files_read', {}],
  ])('%s %j', (type, data) => {
    expect(() => readBundle(bundle(SESSION, { seq: 1, at: 1, type, data }))).toThrow(`its ${type} has a form`)
  })

  it.each(['nowhere', '', 'telegram:somewhere:5', 'telegram:group:'])(
    'S41: one that names the chat of a message as %j, for nothing could be forgotten there',
    (chat) => {
      const one = { messageId: '5', chat }
      const usage = { input: 0, output: 0 }
      const checkpoint = { ...{ reason: 'asked', model: 'm', usage }, back: 0, entries: [], sources: [one] }
      for (const [type, data] of [
        ['user_message', { ...said, chat }],
        ['message_edited', { ...said, chat }],
        ['message_deleted', one],
        ['thread_read', { messages: [{ ...said, chat }], leftOut: 0 }],
        ['exchange_taken_back', { turn: 't', messages: [one], command: 'undo' }],
        ['checkpoint_written', checkpoint],
      ])
        expect(() => readBundle(bundle(SESSION, { seq: 1, at: 1, type, data }))).toThrow(`its ${type} has a form`)
    },
  )

  it.each([{ at: 8_640_000_000_000_001 }, { at: -1 }, { turnId: {} }])('%j', (change) => {
    expect(() => readBundle(bundle(SESSION, { ...EVENT, ...change }))).toThrow('its session_started has a form')
  })
})

describe('a session of another form is refused', () => {
  it.each([
    { id: '../../etc/passwd' },
    { id: 'telegram:x\n\u001b[2J' },
    { id: '' },
    { displayKey: 'telegram:\u202egroup:1' },
    { scope: {} },
    { scope: { ...SESSION.scope, dimensions: ['chat', 'mood'] } },
    { scope: { ...SESSION.scope, values: { chat: 5 } } },
    { source: {} },
    { metadata: { chat_id: 5 } },
    { agentProfile: 5 },
    { createdAt: Number.MAX_SAFE_INTEGER },
    { overrides: { sendPolicy: {} } },
    { participants: ['telegram:1', 5] },
    { description: 'x'.repeat(100_000) },
  ])('%j', (change) => {
    expect(() => readBundle(bundle({ ...SESSION, ...change }, EVENT))).toThrow('its session has a form')
  })
})

it('K32: one whose event or line has something else for a name is refused in words', () => {
  const none = { toString: 1 }
  const later = 'The file cannot be imported: its line 2 has an event of a later version: no name, but object.'
  expect(() => readBundle(bundle(SESSION, { ...EVENT, type: none }))).toThrow(later)
  const writer = new BundleWriter()
  const lines = [{ kind: 'session', version: BUNDLE_VERSION, session: SESSION }, { kind: none }] as never
  const text = (lines as BundleLine[]).map((line) => writer.line(line)).join('')
  expect(() => readBundle(`${text}${writer.end()}`)).toThrow('its line 2 is not known: no name, but object.')
})

it('a line that is not known is refused, and so is a second session', () => {
  for (const line of [{ kind: 'memory' }, { kind: 'session', version: 1, session: SESSION }, { kind: 'end' }]) {
    const writer = new BundleWriter()
    const lines = [{ kind: 'session', version: BUNDLE_VERSION, session: SESSION }, line] as readonly BundleLine[]
    const text = `${lines.map((one) => writer.line(one)).join('')}${writer.end()}`
    expect(() => readBundle(text)).toThrow(`its line 2 is not known: ${line.kind}`)
  }
})

describe('calls of tools that no provider would take in a later request are refused with their line', () => {
  const call = (callId: string) => ({ callId, tool: 'note', args: {} })
  const step = (...calls: object[]) => ({ at: 1, turnId: 't', type: 'assistant_step', data: { ...STEP, calls } })
  const result = (callId: string, turnId = 't') => ({
    ...{ at: 1, turnId, type: 'tool_result' },
    data: { callId, tool: 'note', content: [], isError: false },
  })

  it('calls with ids of their own and their results are read, in every order and more than once', () => {
    const events = [step(call('a'), call('b')), result('b'), result('a'), step(call('c')), result('a')]
    expect(readBundle(bundle(SESSION, ...events)).events).toEqual(events)
  })

  it.each<[string, readonly unknown[], string]>([
    ['a call without an id', [EVENT, step(call('a'), call(''))], '(line 3: calls.1.callId)'],
    ['a result without one', [step(call('a')), result('')], '(line 3: callId)'],
    ['two calls of a step with one id', [step(call('a'), call('a'))], 'line 2 has two calls with one id'],
    ['a result without its call', [step(call('a')), result('b')], 'line 3 has the result of a call that no step'],
    ['a result before its call', [result('a'), step(call('a'))], 'line 2 has the result of a call that no step'],
    ['the result of a call of another turn', [step(call('a')), result('a', 'u')], 'line 3 has the result'],
  ])('%s', (_, events, words) => {
    expect(() => readBundle(bundle(SESSION, ...events))).toThrow(words)
  })
})

describe('door archiveLine: a line of an archive', () => {
  const HEAD = bundle(SESSION).split('\n')[0]

  it.each<[string, string, string]>([
    ['values', `{"kind":"event","event":[${'{},'.repeat(DOORS.archiveLine.values)}{}]}`, 'its line 2 is too long'],
    ['bytes', `"${'x'.repeat(DOORS.archiveLine.bytes)}"`, 'its line 2 is too long'],
  ])('one with too many %s is refused with its number', (_, line, words) => {
    expect(() => readBundle(`${HEAD}\n${line}\n{}\n`)).toThrow(words)
  })

  it('a file of nothing but ends of lines is not divided into as many texts', () => {
    expect(() => readBundle(`${HEAD}${'\n'.repeat(3_000_000)}`)).toThrow('it has more than 2000000 lines')
  })
})

it.each([0, -1, 0.5, '1', null])('version %j of the form is none', (version) => {
  const writer = new BundleWriter()
  const head = writer.line({ kind: 'session', version, session: SESSION } as unknown as BundleLine)
  expect(() => readBundle(`${head}${writer.end()}`)).toThrow('it is no bundle')
})

it('a file with another content than its handle says is refused, in a trial too', () => {
  const writer = new BundleWriter()
  const media = `media://sha256-${'0'.repeat(64)}`
  const lines = [
    { kind: 'session', version: BUNDLE_VERSION, session: SESSION },
    { kind: 'file', media, base64: 'AA==' },
  ] as unknown as readonly BundleLine[]
  const text = `${lines.map((one) => writer.line(one)).join('')}${writer.end()}`
  expect(() => readBundle(text)).toThrow(`the file ${media} in it has another content`)
})

describe('a file that is no whole bundle of a known version is refused', () => {
  const [head = '', body = '', end = ''] = bundle(SESSION, EVENT).split('\n')
  const withVersion = (version: unknown): string => {
    const writer = new BundleWriter()
    const line = writer.line({ kind: 'session', version, session: SESSION } as BundleLine)
    return `${line}${writer.end()}`
  }
  const counted = (lines: number): string =>
    `${[head, body, JSON.stringify({ ...JSON.parse(end), lines })].join('\n')}\n`

  it.each([
    ['a later version', withVersion(BUNDLE_VERSION + 1), 'upgrade it'],
    ['no version', withVersion('1'), 'it is no bundle'],
    ['version 0', withVersion(0), 'it is no bundle'],
    ['an end that counts other lines', counted(7), 'its checksum differs'],
    ['no end', `${head}\n${body}\n`, 'it was cut off'],
    ['a line too few', `${head}\n${end}\n`, 'its checksum differs'],
    ['a last line that is torn', `${head}\n${body}\n${end.slice(0, -3)}`, 'it was cut off'],
  ])('it has %s', (_, text, words) => {
    expect(readBundle(counted(2)).events).toHaveLength(1)
    expect(() => readBundle(text)).toThrow(words)
  })
})
