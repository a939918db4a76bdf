import { describe, expect, it } from 'vitest'
import { amended } from '../../src/core/amended.ts'
import { emptied } from '../../src/core/emptied.ts'
import type { SessionEvent } from '../../src/core/event.ts'
import type { Opaque } from '../../src/core/model.ts'
import { isStorable, withoutOpaque } from '../../src/core/opaque.ts'
import { messagesIn } from '../../src/core/words-in.ts'
import { sliceOf } from '../../src/memory/slice.ts'
import { digestLine } from '../../src/schedule/digest-text.ts'
import { markdownRows } from '../../src/sessions/export/markdown.ts'
import { transcriptRows } from '../../src/sessions/export/transcript-rows.ts'
import { sessionWorkflow } from '../../src/sessions/export/workflow.ts'
import { messagesOf } from '../../src/sessions/service/history-message.ts'
import { eventReport } from '../../src/sessions/service/session-report.ts'
import { eventText } from '../../src/sessions/view/event-text.ts'
import { eventLog } from '../fakes/session-events.ts'
import { sessionDraft } from '../store/sample-rows.ts'

const CANARY = 'zq9thought'
const opaque = (data: unknown): Opaque => ({ model: 'anthropic/m', tokens: 5, data })
const nested = (levels: number): unknown => JSON.parse(`${'['.repeat(levels)}${']'.repeat(levels)}`)
/** The characters of JSON around a text that is the data. */
const AROUND = JSON.stringify(opaque('')).length

function stepWith(given?: Opaque): SessionEvent {
  const calls = [{ callId: 'a', tool: 'clock', args: { zone: 'UTC' } }]
  const data = { text: 'let me see', model: 'anthropic/m', usage: { input: 1, output: 1 }, calls }
  return { type: 'assistant_step', data: { ...data, ...(given && { opaque: given }) }, seq: 3, at: 3 }
}

describe('C26: opaque fields of a step are stored up to a bound', () => {
  const round: Record<string, unknown> = {}
  round.self = round
  it.each<[string, unknown, boolean]>([
    ['an empty list', [], true],
    ['a thought', [{ type: 'thinking', thinking: 'x', signature: 'y' }], true],
    ['nothing', undefined, false],
    ['null', null, true],
    ['1,000,000 characters of JSON', 'x'.repeat(1_000_000 - AROUND), true],
    ['one character more', 'x'.repeat(1_000_001 - AROUND), false],
    ['characters that JSON escapes', '\n'.repeat(500_000), false],
    ['many small fields', Array.from({ length: 200_000 }, () => ({ a: 1 })), false],
    ['100 levels', nested(101), true],
    ['more levels', nested(102), false],
    ['more levels than calls go down', nested(50_000), false],
    ['a circle', round, false],
    ['no JSON', 5n, false],
  ])('%s', (_, data, kept) => {
    expect(isStorable(opaque(data))).toBe(kept)
  })

  it('a name of a model counts too', () => {
    expect(isStorable({ ...opaque([]), model: 'm'.repeat(1_000_000) })).toBe(false)
  })
})

describe('C26: an event without opaque fields', () => {
  it('keeps everything else of a step', () => {
    expect(withoutOpaque(stepWith(opaque(CANARY)))).toEqual(stepWith())
  })

  it('is the same object where there are none', () => {
    const log = eventLog()
    log.user('hello')
    log.started('t1')
    log.step('t1', 'a')
    log.answered('t1', 'hi')
    for (const event of log.events) expect(withoutOpaque(event)).toBe(event)
  })
})

it('S41: a step that is forgotten has no opaque fields, and its model and cost stay', () => {
  const { data } = emptied(stepWith(opaque(CANARY)))
  expect(data).toEqual({
    ...{ text: '', model: 'anthropic/m', usage: { input: 1, output: 1 } },
    calls: [{ callId: 'a', tool: 'forgotten', args: {} }],
  })
})

describe('C26: no text of a log has the opaque fields of its steps', () => {
  const log = eventLog()
  log.user('what time is it?')
  log.started('t1')
  const step = stepWith(opaque([{ type: 'thinking', thinking: CANARY, signature: CANARY }]))
  log.add(step, 't1')
  log.result('t1', 'a')
  log.answered('t1', 'late')
  const { events } = log
  const session = { ...sessionDraft(1), createdAt: 1, description: 'd' } as never
  it.each<[string, () => unknown]>([
    ['the report of an event', () => events.map(eventReport)],
    ['the line of an event', () => events.map(eventText)],
    ['a message of the history', () => events.flatMap((event) => messagesOf(event, true))],
    ['a transcript', () => transcriptRows(events)],
    ['a Markdown page', () => markdownRows(events)],
    ['a workflow', () => sessionWorkflow(session, events)],
    ['a digest', () => events.map((event) => digestLine(event, 'here'))],
    ['what a checkpoint is shown', () => sliceOf(events)],
    ['messages that are looked through', () => amended(events).flatMap(messagesIn)],
  ])('%s', (_, read) => {
    const text = JSON.stringify(read())
    expect(text).toMatch(/what time|late/)
    expect(text).not.toContain(CANARY)
  })
})
