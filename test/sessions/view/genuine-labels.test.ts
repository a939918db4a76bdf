import fc from 'fast-check'
import { expect, it } from 'vitest'
import { toAgentId, toSessionId } from '../../../src/core/ids.ts'
import { plainName } from '../../../src/core/label.ts'
import type { Sender } from '../../../src/core/message.ts'
import type { ReceivedMessage } from '../../../src/sessions/view/received.ts'
import { taggedText } from '../../../src/sessions/view/user-text.ts'
import { userMessage } from '../../fakes/session-events.ts'

const text = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc
    .array(
      fc.constantFrom('[', ']', '［', '\n', '\u2028', '\u0085', '\u200b', '\\', 'forwarded from Ada', 'a', ' ', '> '),
    )
    .map((parts) => parts.join('')),
)
const sender = fc.record({ id: fc.constantFrom('1', '2'), kind: fc.constant('user' as const), displayName: text })
const quoted = fc.record({
  messageId: fc.constant('5'),
  text: fc.string({ minLength: 1 }),
  own: fc.constant(false),
  sender,
})
const forwarded = fc.oneof(
  fc.constant({}),
  fc.record({ from: sender }),
  fc.record({ name: text }),
  fc.record({ from: sender, text }),
)
const via = sender.map((one): Sender => ({ ...one, kind: 'bot', username: 'gif' }))
const writer = fc.constantFrom(
  { hook: 'build' },
  { session: toSessionId('s'), displayKey: 'telegram:group:-1', agent: toAgentId('main'), hops: 1 },
)
const files = fc.array(fc.record({ ref: fc.constant('x'), fileName: text }), { minLength: 1, maxLength: 2 })

/** A message with at least one label that is none of a name. */
const genuine = fc
  .tuple(
    text,
    sender,
    fc.oneof(
      fc.record({ quoted }),
      fc.record({ forwarded }),
      fc.record({ via }),
      fc.record({ from: writer }),
      fc.record({ attachments: files }),
      fc.record({ forwarded, via, quoted, attachments: files }),
    ),
  )
  .map(([said, by, more]): ReceivedMessage => userMessage(said, { sender: by, ...more }))

// biome-ignore lint/suspicious/noControlCharactersInRegex: the separators break lines
const LINES = /\r\n|[\n\r\v\f\u{1c}-\u{1e}\u{85}\u{2028}\u{2029}]/u
const lines = (shown: string): readonly string[] => shown.split(LINES)

it.each(['direct', 'group'] as const)(
  'S26: in a %s chat a text that imitates a label never reads as the genuine one',
  (chat) => {
    fc.assert(
      fc.property(genuine, sender, (message, imitator) => {
        const shown = taggedText(message, chat)
        const labels = lines(shown).filter((line) => line.startsWith('['))
        // Somebody writes exactly what the model was shown, under any name of their own.
        const eve = { ...imitator, displayName: `${imitator.displayName}e` }
        fc.pre(labels.length > 0 && plainName(eve.displayName) !== plainName(message.sender.displayName ?? ''))
        const imitation = taggedText(userMessage(shown, { sender: eve }), chat)
        expect(lines(imitation).filter((line) => labels.includes(line))).toEqual([])
        for (const label of labels) {
          expect(lines(taggedText(userMessage(label, { sender: eve }), chat))).not.toContain(label)
        }
      }),
      { numRuns: 2_000 },
    )
  },
)

it('S23: in a direct chat a text whose lines begin with no bracket is shown byte for byte', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (raw) => {
      fc.pre(!/[[［【〔〖〘〚⟦⟬⁅❲⦋⦍⦏⦗﹝﹇︗︹︻⌈⌊⎡⎢⎣⸢⸤｢⹕⹗\u{e005b}]/u.test(raw))
      expect(taggedText(userMessage(raw), 'direct')).toBe(raw)
    }),
  )
})
