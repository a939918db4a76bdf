import { createHash } from 'node:crypto'
import { systemClock } from '../../src/core/clock.ts'
import type { ScopeKey } from '../../src/core/ids.ts'
import { openSqliteStore } from '../../src/store/engines/sqlite.ts'
import type { Store } from '../../src/store/store.ts'
import { sessionDraft } from '../store/sample-rows.ts'
import { databaseIn, parley } from './contenders.ts'
import { sampleLatency } from './latency.ts'
import { progress, withBot, withFolder } from './rig.ts'
import { atMost, median, percentile, type Row } from './row.ts'

const SESSIONS = 1_000_000
const BATCH = 2_000
const STARTS = 5
const SAMPLES = 300

/** What a million stored sessions cost: the start, and one warm message in a new session among them. */
export async function benchSessions(): Promise<Row[]> {
  const few = await withFolder(timesIn)
  const many = await withFolder(async (folder) => {
    await fill(databaseIn(folder))
    return timesIn(folder)
  })
  const among = `${SESSIONS.toLocaleString('en-US')} sessions`
  const starts = { values: { Parley: median(many.starts) }, samples: { Parley: many.starts } }
  const flat = { text: 'flat (≤ 1.2)', met: atMost(1.2).met }
  const factor = (share: number): number => percentile(many.times, share) / percentile(few.times, share)
  return [
    { what: `start with ${among}`, unit: 'ms', goal: atMost(1000), ...starts },
    { what: `one warm message among ${among}, p50`, unit: 'ms', values: { Parley: percentile(many.times, 0.5) } },
    { what: '… against an empty database, p50: factor', unit: '', goal: flat, values: { Parley: factor(0.5) } },
    { what: '… against an empty database, p99: factor', unit: '', values: { Parley: factor(0.99) } },
  ]
}

async function timesIn(folder: string): Promise<{ starts: number[]; times: number[] }> {
  const starts: number[] = []
  while (starts.length < STARTS) starts.push(await withBot(parley, folder, ({ startMs }) => startMs))
  return { starts, times: await withBot(parley, folder, (rig) => sampleLatency(rig, SAMPLES)) }
}

async function fill(path: string): Promise<void> {
  const store = await openSqliteStore({ path, clock: systemClock })
  for (let first = 0; first < SESSIONS; first += BATCH) {
    await addSessions(store, first)
    if (first % 100_000 === 0) progress(`sessions: ${first.toLocaleString('en-US')} stored`)
  }
  await store.close()
}

/** Scope keys lie as scattered as real ones, and each session has the event every session begins with. */
function addSessions(store: Store, first: number): Promise<void> {
  return store.write(async (tx) => {
    for (let chat = first; chat < first + BATCH; chat++) {
      const scopeKey = `sk_v1_${createHash('sha256').update(String(chat)).digest('hex')}` as ScopeKey
      const session = await tx.sessions.create(sessionDraft(chat, { scopeKey }), chat)
      await tx.events.append(session.id, chat, [{ type: 'session_started', data: { agent: session.agentId } }])
    }
  })
}
