import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout } from 'node:timers/promises'
import { systemClock } from '../../src/core/clock.ts'
import type { Session } from '../../src/core/session.ts'
import { requestMessages } from '../../src/sessions/view/model-view.ts'
import { createTranscript } from '../../src/sessions/view/transcript.ts'
import { openSqliteStore } from '../../src/store/engines/sqlite.ts'
import type { EventToAppend } from '../../src/store/event-port.ts'
import type { Store } from '../../src/store/store.ts'
import { userMessage } from '../fakes/session-events.ts'
import { ids, sessionDraft } from '../store/sample-rows.ts'
import { atMost, type Row } from './row.ts'

const LIMITS = { turns: 40, dropTurns: 10, contextMessages: 50, contextCharacters: 24_000 }
const SAYS = 'We could take the train at seven, or the later one if nobody minds. '.repeat(4)
const EVENTS_A_TURN = 4

interface Timed {
  readonly coldMs: number
  readonly warmMs: number
  readonly longestBlockMs: number
}

/** How long the context of a long session takes, by a view that is not in memory and by one that is. */
export async function benchContext(): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-context-'))
  const store = await openSqliteStore({ path: join(folder, 'parley.db'), clock: systemClock })
  try {
    const plain = await timed(store, await talked(store, 1, { turns: 5_000 }))
    const folded = await timed(store, await talked(store, 2, { turns: 5_000, summaryAfter: 4_960 }))
    const long = await timed(store, await talked(store, 3, { turns: 25_000, summaryAfter: 10 }))
    return [
      row('context of 10,000 messages, warm', plain.warmMs, 20),
      row('context of 10,000 messages, cold', plain.coldMs, 20),
      row('context of 10,000 messages with a summary, warm', folded.warmMs, 20),
      row('context of 10,000 messages with a summary, cold', folded.coldMs, 20),
      row('context of 100,000 events since the summary, cold', long.coldMs, 1_000),
      row('longest block of the loop meanwhile', long.longestBlockMs, 50),
    ]
  } finally {
    await store.close()
    rmSync(folder, { recursive: true })
  }
}

function row(what: string, value: number, goal: number): Row {
  return { what, unit: 'ms', goal: atMost(goal), values: { Parley: Math.round(value * 100) / 100 } }
}

/** Makes a session in which so many turns were answered, with a summary behind one of them. */
async function talked(
  store: Store,
  no: number,
  { turns, summaryAfter }: { readonly turns: number; readonly summaryAfter?: number },
): Promise<Session> {
  const session = await store.write((tx) => tx.sessions.create(sessionDraft(no), 1))
  const usage = { input: 900, output: 60 }
  for (let turn = 1; turn <= turns; turn++) {
    const turnId = ids.turn()
    const events: EventToAppend[] = [
      { type: 'user_message', data: userMessage(`${turn}: ${SAYS}`) },
      { type: 'turn_started', turnId, data: { traceId: ids.trace() } },
      { type: 'assistant_message', turnId, data: { text: SAYS, model: 'm', usage } },
      { type: 'turn_completed', turnId, data: { outcome: 'answered', usage, steps: 1 } },
    ]
    const back = 1 + EVENTS_A_TURN * 4
    if (turn === summaryAfter)
      events.push({ type: 'context_compacted', data: { text: SAYS, model: 'm', usage, turns: turn - 4, back } })
    await store.write((tx) => tx.events.append(session.id, turn, events))
  }
  return session
}

async function timed(store: Store, session: Session): Promise<Timed> {
  const loop = monitorEventLoopDelay({ resolution: 1 })
  const transcript = createTranscript(store.read.events, LIMITS)
  loop.enable()
  const before = performance.now()
  const view = await transcript.view(session)
  requestMessages(view, 'direct')
  const coldMs = performance.now() - before
  // A block that ends with the reading is seen in the next turn of the loop.
  await setTimeout(10)
  loop.disable()
  const times: number[] = []
  for (let round = 0; round < 51; round++) {
    const started = performance.now()
    requestMessages(await transcript.view(session), 'direct')
    times.push(performance.now() - started)
  }
  return { coldMs, warmMs: times.toSorted((a, b) => a - b)[25] ?? Number.NaN, longestBlockMs: loop.max / 1e6 }
}
