import { copyFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { Namespace } from '../../src/core/caller.ts'
import { systemClock } from '../../src/core/clock.ts'
import { openSqliteStore } from '../../src/store/engines/sqlite.ts'
import type { ListPage, PageQuery } from '../../src/store/list-port.ts'
import type { Store } from '../../src/store/store.ts'
import { LIST_NOW, listStore, OFTEN, SELDOM, type Spread } from './list-store.ts'
import { progress, withFolder } from './rig.ts'
import { atMost, percentile, type Row } from './row.ts'

const SESSIONS = 1_000_000
const ASKED = 150
const DEEP_PAGES = 40
/** Where all were active in one hour, it is that hour which is cut, in the middle of ten seconds. */
const STALE_MS = { years: 3 * 86_400_000, hour: 1_805_000 }

const CALLERS: Readonly<Record<string, Pick<PageQuery, 'namespace' | 'participants'>>> = {
  owner: {},
  'token of most': { namespace: 'telegram' as Namespace },
  'token of a tenth': { namespace: 'web:alice' as Namespace },
  'token of a thousandth': { namespace: 'api:shop' as Namespace },
  'participant of three tenths': { participants: [OFTEN, 'discord:999'] },
  'participant of a thousandth': { participants: [SELDOM] },
}

/** The cost of a list of 50 among a million stored sessions, and of bringing an older store up to date. */
export async function benchLists(): Promise<Row[]> {
  const rows: Row[] = []
  for (const spread of ['years', 'hour'] as const) rows.push(...(await withFolder((folder) => listsIn(folder, spread))))
  return rows
}

async function listsIn(folder: string, spread: Spread): Promise<Row[]> {
  const kept = process.env.PARLEY_BENCH_STORES ?? join(tmpdir(), 'parley-bench-stores')
  const path = join(folder, 'parley.db')
  copyFileSync(listStore(kept, SESSIONS, spread), path)
  const begun = performance.now()
  const store = await openSqliteStore({ path, clock: systemClock })
  const upgrade = performance.now() - begun
  progress(`lists: up to date in ${Math.round(upgrade)} ms`)
  const among = `${SESSIONS.toLocaleString('en-US')} sessions of ${spread === 'hour' ? 'one hour' : 'two years'}`
  const rows: Row[] = [{ what: `lists kept for ${among}, once`, unit: 'ms', values: { Parley: upgrade } }]
  try {
    for (const [name, caller] of Object.entries(CALLERS))
      for (const inactive of [true, false]) {
        const { times, longest, cpu } = await timesOf(store, {
          ...caller,
          inactive,
          limit: 50,
          activeSince: LIST_NOW - STALE_MS[spread],
        })
        const what = `list of 50, ${name}, ${inactive ? 'all' : 'active'}, among ${among}`
        rows.push({ what: `${what}, p99`, unit: 'ms', goal: atMost(20), values: { Parley: percentile(times, 0.99) } })
        rows.push({ what: '… event loop blocked at most', unit: 'ms', goal: atMost(50), values: { Parley: longest } })
        progress(`${what}: ${cpu.toFixed(1)} ms of a processor each`)
        rows.push({ what: '… p50', unit: 'ms', values: { Parley: percentile(times, 0.5) } })
      }
  } finally {
    await store.close()
  }
  return rows
}

/** First pages and deep ones in turn. */
async function timesOf(store: Store, query: PageQuery): Promise<{ times: number[]; longest: number; cpu: number }> {
  const deep = await deepPlace(store, query)
  const delay = monitorEventLoopDelay({ resolution: 1 })
  const times: number[] = []
  const before = process.cpuUsage()
  await new Promise(setImmediate)
  delay.enable()
  for (let at = 0; at < ASKED; at++) {
    const begun = performance.now()
    await store.read.lists.page(at % 2 === 0 ? query : { ...query, ...deep })
    times.push(performance.now() - begun)
    await new Promise(setImmediate)
  }
  delay.disable()
  const { user, system } = process.cpuUsage(before)
  return { times, longest: delay.max / 1e6, cpu: (user + system) / 1_000 / ASKED }
}

async function deepPlace(store: Store, query: PageQuery): Promise<Pick<PageQuery, 'after'>> {
  let after: ListPage['next']
  for (let page = 0; page < DEEP_PAGES; page++)
    after = (await store.read.lists.page({ ...query, limit: 200, ...(after ? { after } : {}) })).next ?? after
  return after ? { after } : {}
}
