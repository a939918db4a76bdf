import { expect, test } from 'vitest'
import { createTelegramFormat } from '../../adapters/telegram/format.ts'
import type { TraceId, TurnId } from '../../src/core/ids.ts'
import type { DeliveryClass, OutboundMessage } from '../../src/core/outbound.ts'
import { planReply, type ReplyPlan } from '../../src/delivery/plan-reply.ts'
import { at, DM } from './rig.ts'

const format = createTelegramFormat(40)

function plan(
  text: string,
  { allowed = true, as = 'reply', shown }: { allowed?: boolean; as?: DeliveryClass; shown?: string } = {},
): ReplyPlan {
  const message: OutboundMessage = {
    source: 'turn_1' as TurnId,
    traceId: 'tr_1' as TraceId,
    address: at(DM),
    class: as,
    text,
    ...(shown === undefined ? {} : { below: { shown } }),
  }
  return planReply(message, { format, most: 20 }, { allowed, because: 'rule "quiet"' })
}

function textsOf(reply: ReplyPlan): readonly string[] {
  return reply.kind === 'parts' ? reply.parts.map(({ plain }) => plain) : [`<${reply.kind}>`]
}

test.each(['<NO_REPLY>', ' <EMPTY_RESPONSE>\n', '<NO_REPLY><NO_REPLY> <EMPTY_RESPONSE>', '<NO_<NO_REPLY>REPLY>'])(
  'S28: %j plans silence',
  (text) => expect(plan(text)).toEqual({ kind: 'silent' }),
)

test('S28: a marker beside invisible characters only plans silence', () => {
  expect(plan('\u200b<NO_REPLY>')).toEqual({ kind: 'silent' })
})

test('S29: text with a marker is planned without the marker', () => {
  expect(textsOf(plan('All quiet. <NO_REPLY>'))).toEqual(['All quiet.'])
})

test('S30: both markers, repeated and mixed, go; other words in angle brackets stay', () => {
  expect(textsOf(plan('<NO_REPLY>a <b> <EMPTY_RESPONSE><NO_REPLY>c'))).toEqual(['a <b> c'])
})

test('S30: the bare word stays text', () => {
  expect(textsOf(plan('NO_REPLY'))).toEqual(['NO_REPLY'])
})

test.each(['', ' \n ', '\u200b'])('%j without a marker is empty, not silent', (text) => {
  expect(plan(text)).toEqual({ kind: 'empty' })
})

test.each(['reply', 'effect', 'notice'] as const)('T31: a denied %s is not planned and names the rule', (as) => {
  expect(plan('hello', { allowed: false, as })).toEqual({ kind: 'denied', because: 'rule "quiet"' })
})

test('T31: an answer to a control command is exempt', () => {
  expect(textsOf(plan('Sending is off.', { allowed: false, as: 'control' }))).toEqual(['Sending is off.'])
})

test('a long text is planned in parts within the limit', () => {
  const parts = textsOf(plan('one two three four five six seven eight nine ten eleven twelve'))
  expect(parts.length).toBeGreaterThan(1)
  expect(parts.every((part) => part.length <= 40)).toBe(true)
})

test.each([
  ['fits beside it', 'one two', ['one two\n\nIt broke off.']],
  ['has no room beside it', 'one two three four five six', ['one two three four five six', 'It broke off.']],
  [
    'stands below several',
    'one two three four five six seven eight nine',
    ['one two three four five six seven eight', 'nine\n\nIt broke off.'],
  ],
  ['stands below a marker', '<NO_REPLY>', ['It broke off.']],
  ['stands below a marker in a text', 'one <NO_REPLY>', ['one\n\nIt broke off.']],
])('a line that %s goes below what was shown', (_, shown, texts) => {
  expect(textsOf(plan('It broke off.', { shown })).map((text) => text.trimEnd())).toEqual(texts)
})

test('a line fits if the message is exactly full with it', () => {
  const shown = 'x'.repeat(40 - '\n\nIt broke off.'.length)
  expect(textsOf(plan('It broke off.', { shown }))).toHaveLength(1)
  expect(textsOf(plan('It broke off.', { shown: `${shown}x` }))).toHaveLength(2)
})

test('a line of markup below an open code block stands outside of it', () => {
  const planned = plan('It *broke* off.', { shown: '```\nlet a' })
  expect(planned.kind === 'parts' && planned.parts.map(({ text }) => text)).toEqual([
    expect.stringMatching(/^<pre>.*let a\s*(<\/code>)?<\/pre>\n\nIt <i>broke<\/i> off\.$/s),
  ])
})
