import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { SessionEvent } from '../../../src/core/event.ts'
import { EMPTY_VIEW, extendView, requestMessages } from '../../../src/sessions/view/model-view.ts'
import { createTranscript } from '../../../src/sessions/view/transcript.ts'
import { sessionDraft } from '../../store/sample-rows.ts'
import { actions, RetoldSession } from './retold-session.ts'

const LIMITS = { turns: 3, dropTurns: 2, contextMessages: 1_000, contextCharacters: 100_000 }

const requestOf = (events: readonly SessionEvent[]) =>
  requestMessages(extendView(EMPTY_VIEW, events, 'group', LIMITS), 'group').messages

it('the model is shown what was said and answered, less what was deleted', () => {
  fc.assert(
    fc.property(actions, (all) => {
      const session = new RetoldSession(all, LIMITS)
      expect(JSON.parse(JSON.stringify(requestOf(session.events)))).toEqual(session.shown())
    }),
    { numRuns: 300 },
  )
})

it('a request that was made stays as it is, whatever happens later', () => {
  fc.assert(
    fc.property(actions, (all) => {
      let view = EMPTY_VIEW
      const made = new RetoldSession(all, LIMITS).events.map((event) => {
        view = extendView(view, [event], 'group', LIMITS)
        const { messages } = requestMessages(view, 'group')
        return { messages, asMade: JSON.stringify(messages) }
      })
      for (const { messages, asMade } of made) expect(JSON.stringify(messages)).toBe(asMade)
    }),
    { numRuns: 100 },
  )
})

it('a transcript that saw some of a log, missed some and forgot some shows what the log alone does', async () => {
  const after = fc.constantFrom('nothing', 'look', 'drop')
  const stretch = fc.record({ length: fc.integer({ min: 1, max: 5 }), seen: fc.boolean(), after })
  const group = { ...sessionDraft(1), chatType: 'group' } as const
  await fc.assert(
    fc.asyncProperty(actions, fc.array(stretch, { minLength: 1, maxLength: 10 }), async (all, stretches) => {
      const { events } = new RetoldSession(all, LIMITS)
      let end = 0
      const log = {
        since: async (_: unknown, seq: number, most: number) => events.slice(seq, end).slice(0, most),
        latest: async () => events.slice(0, end),
        async latestSummary() {
          const found = events.slice(0, end).findLast(({ type }) => type === 'context_compacted')
          return found?.type === 'context_compacted' ? { seq: found.seq, back: found.data.back } : undefined
        },
      }
      const transcript = createTranscript(log, LIMITS)
      for (let round = 0; end < events.length; round++) {
        const { length = 1, seen, after } = stretches[round % stretches.length] ?? {}
        const appended = events.slice(end, end + length)
        if (seen) transcript.saw(group, { seq: end + 1, at: 1, events: appended })
        end += appended.length
        if (after === 'drop') transcript.drop(group.id)
        if (after === 'look') await transcript.view(group)
      }
      expect(requestMessages(await transcript.view(group), 'group').messages).toEqual(requestOf(events))
    }),
    { numRuns: 150 },
  )
})
