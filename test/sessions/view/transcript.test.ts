import { expect, it } from 'vitest'
import type { SessionEvent } from '../../../src/core/event.ts'
import { createTranscript } from '../../../src/sessions/view/transcript.ts'
import type { EventToAppend } from '../../../src/store/event-port.ts'
import { ids, sessionDraft, userMessage } from '../../store/sample-rows.ts'

const session = sessionDraft(1)
const turnId = ids.turn()
const asked = [userMessage('hello'), { type: 'turn_started', turnId, data: { traceId: ids.trace() } }] as const

/** A log in memory that counts how often it is read. */
function logOf(drafts: readonly EventToAppend[]) {
  const events: SessionEvent[] = []
  const log = {
    reads: 0,
    append: (more: readonly EventToAppend[]) => {
      const seq = events.length + 1
      for (const draft of more) events.push({ ...draft, seq: events.length + 1, at: 1 })
      return { seq, at: 1, events: more }
    },
    since: async (_: unknown, after: number) => {
      log.reads++
      return events.filter(({ seq }) => seq > after)
    },
    latestSummary: async () => undefined,
    latest: async () => {
      log.reads++
      return [...events]
    },
  }
  log.append(drafts)
  return log
}

const limits = { turns: 40, dropTurns: 1, contextMessages: 50, contextCharacters: 9_000 }

it('C27: what was seen to be committed is not read again for the turn it began', async () => {
  const log = logOf([])
  const transcript = createTranscript(log, limits)
  await transcript.view(session)
  transcript.saw(session, log.append(asked))
  const before = log.reads
  const { running } = await transcript.view(session, turnId)
  expect([running?.received[0]?.text, log.reads]).toEqual([expect.stringContaining('hello'), before])
})

it('C27: a turn whose beginning was not seen is read from the log', async () => {
  const log = logOf([])
  const transcript = createTranscript(log, limits)
  await transcript.view(session)
  log.append([userMessage('missed')])
  transcript.saw(session, log.append(asked))
  const { running } = await transcript.view(session, turnId)
  expect(running?.received.map(({ text }) => text)).toEqual(['missed', 'hello'])
})

it('S17: without a turn the newest events are read', async () => {
  const log = logOf(asked)
  const transcript = createTranscript(log, limits)
  await transcript.view(session)
  log.append([userMessage('later')])
  expect((await transcript.view(session)).pending).toHaveLength(1)
})

it('S41: nothing is kept of a session that was dropped while its long log was read', async () => {
  const log = logOf(Array.from({ length: 500 }, (_, no) => userMessage(`of the deleted session ${no}`)))
  const transcript = createTranscript({ ...log, latest: async () => log.since(session, 0) }, limits)
  const reading = transcript.view(session)
  await Promise.resolve().then(() => transcript.drop(session.id))
  await reading
  const reads = log.reads
  await transcript.view(session)
  expect(log.reads).toBeGreaterThan(reads + 1)
})
