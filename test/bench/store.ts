import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '../../src/core/clock.ts'
import type { SessionId } from '../../src/core/ids.ts'
import { openSqliteStore } from '../../src/store/engines/sqlite.ts'
import type { Store } from '../../src/store/store.ts'
import {
  assistantMessage,
  deliveryOf,
  ids,
  inboxRow,
  sessionDraft,
  turnCompleted,
  turnOf,
  userMessage,
} from '../store/sample-rows.ts'
import { rawCycles } from './store-raw.ts'

export interface BenchFigure {
  readonly name: string
  readonly value: number
  readonly unit: string
  readonly goal?: string
}

const SESSIONS = 200
const PARALLEL = 64
const CYCLES = 20_000

/** The store under the daemon's own load: three transactions a message, FULL commits, every index on. */
export async function benchStore(): Promise<BenchFigure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-bench-'))
  try {
    const store = await openSqliteStore({ path: join(folder, 'store.db'), clock: systemClock })
    const sessions = await makeSessions(store)
    await cycles(store, sessions, CYCLES / 4)
    const perSecond = rate(CYCLES, await timed(() => cycles(store, sessions, CYCLES)))
    const lone = await loneWrites(store, sessions)
    await store.close()
    const raw = rawCycles({ path: join(folder, 'raw.db'), sessions: SESSIONS, parallel: PARALLEL, cycles: CYCLES })
    return [
      { name: 'store: message cycles', value: Math.round(perSecond), unit: '1/s', goal: '>= 4000' },
      { name: 'store: share of raw SQLite', value: Math.round((100 * perSecond) / raw), unit: '%', goal: '>= 50' },
      { name: 'store: a lone accept, p50', value: lone.p50, unit: 'ms' },
      { name: 'store: a lone accept, p99', value: lone.p99, unit: 'ms' },
    ]
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function makeSessions(store: Store): Promise<readonly SessionId[]> {
  const drafts = Array.from({ length: SESSIONS }, (_, chat) => sessionDraft(chat))
  const made = await Promise.all(drafts.map((draft) => store.write((tx) => tx.sessions.create(draft, 1))))
  return made.map((session) => session.id)
}

/** `PARALLEL` conversations at a time, each message a whole cycle, sessions in turn. */
async function cycles(store: Store, sessions: readonly SessionId[], count: number): Promise<void> {
  let next = 0
  const free = [...sessions.keys()]
  const worker = async (): Promise<void> => {
    while (next < count) {
      const no = next++
      const chat = free.shift() ?? 0
      await cycle(store, sessions[chat] ?? ('' as SessionId), { chat, no: messageNo + no })
      free.push(chat)
    }
  }
  await Promise.all(Array.from({ length: PARALLEL }, worker))
  messageNo += count
}

let messageNo = 1

async function cycle(store: Store, sessionId: SessionId, { chat, no }: { chat: number; no: number }): Promise<void> {
  const at = 1_800_000_000_000 + no
  const turn = turnOf(sessionId, chat, at)
  await accept(store, sessionId, { chat, no, turn })
  const delivery = deliveryOf(turn.id, { sessionId, state: 'sending', startedAt: at })
  await store.write(async (tx) => {
    const answer = { ...assistantMessage(`echo message ${no}`), turnId: turn.id }
    await tx.events.append(sessionId, at, [answer, { ...turnCompleted, turnId: turn.id }])
    await tx.turns.finish(turn.id, { state: 'completed', outcome: 'answered', at, usage: { input: 10, output: 5 } })
    await tx.outbox.add([delivery])
  })
  await store.write((tx) => tx.outbox.settle(delivery.id, { state: 'sent', messageId: String(no), at }))
}

async function accept(
  store: Store,
  sessionId: SessionId,
  { chat, no, turn }: { chat: number; no: number; turn: ReturnType<typeof turnOf> },
): Promise<void> {
  const row = inboxRow(chat, no, { sessionId, turnId: turn.id, state: 'claimed' })
  await store.write(async (tx) => {
    await tx.inbox.add(row)
    const started = { type: 'turn_started', data: { traceId: ids.trace() }, turnId: turn.id } as const
    await tx.events.append(sessionId, turn.startedAt, [userMessage(`message ${no}`), started])
    await tx.turns.start(turn)
  })
}

async function loneWrites(store: Store, sessions: readonly SessionId[]): Promise<{ p50: number; p99: number }> {
  const times: number[] = []
  for (const [chat, sessionId] of sessions.entries()) {
    const turn = turnOf(sessionId, chat)
    const no = messageNo++
    times.push(await timed(() => accept(store, sessionId, { chat, no, turn })))
  }
  times.sort((a, b) => a - b)
  const at = (share: number): number => Number((times[Math.floor(times.length * share)] ?? 0).toFixed(3))
  return { p50: at(0.5), p99: at(0.99) }
}

async function timed(work: () => Promise<void>): Promise<number> {
  const from = performance.now()
  await work()
  return performance.now() - from
}

function rate(count: number, ms: number): number {
  return (count * 1000) / ms
}
