import { cpus, loadavg } from 'node:os'
import { benchContext } from './context.ts'
import { benchEcho } from './echo.ts'
import { benchIdle } from './idle.ts'
import { benchLatency } from './latency.ts'
import { benchLists } from './lists.ts'
import { benchMemory } from './memory.ts'
import { benchMoney } from './money.ts'
import { type BenchOptions, readRequest } from './options.ts'
import { printTable } from './print-table.ts'
import { progress } from './rig.ts'
import { benchRoute } from './route.ts'
import { atLeast, atMost, type Goal, type Row } from './row.ts'
import { benchSessions } from './sessions.ts'
import { benchSplit } from './split.ts'
import { benchStart } from './start.ts'
import { benchStore } from './store.ts'
import { benchStreams } from './streams.ts'

type Measurement = (options: BenchOptions) => Row[] | Promise<Row[]>

const MEASUREMENTS: ReadonlyMap<string, Measurement> = new Map<string, Measurement>([
  ['split', benchSplit],
  ['route', routeRows],
  ['store', storeRows],
  ['start', benchStart],
  ['idle', benchIdle],
  ['latency', benchLatency],
  ['echo', benchEcho],
  ['memory', benchMemory],
  ['money', benchMoney],
  ['context', benchContext],
  ['streams', benchStreams],
  ['sessions', benchSessions],
  ['lists', benchLists],
])

/** Minutes long, so only on request. */
const ON_REQUEST = ['sessions', 'lists']

async function routeRows(): Promise<Row[]> {
  const figures = await benchRoute()
  return figures.map(({ name, value, unit, goal }) => ({
    what: name,
    unit,
    goal: atMost(goal),
    values: { Parley: value },
  }))
}

async function storeRows(): Promise<Row[]> {
  const figures = await benchStore()
  return figures.map(({ name, value, unit, goal }) => {
    const row = { what: name, unit, values: { Parley: value } }
    return goal === undefined ? row : { ...row, goal: goalOf(goal) }
  })
}

/** `>= 4000` */
function goalOf(text: string): Goal {
  return atLeast(Number(text.replace('>=', '')))
}

async function measure(names: readonly string[], options: BenchOptions): Promise<Row[]> {
  const rows: Row[] = []
  for (const name of names) {
    progress(`— ${name}`)
    rows.push(...((await MEASUREMENTS.get(name)?.(options)) ?? []))
  }
  return rows
}

/** Other work on the machine shows in the load, so it stands beside the figures. */
function machineFacts(): Record<'node' | 'processors' | 'load', string> {
  const load = loadavg()[0]?.toFixed(1) ?? ''
  return { node: process.version, processors: `${cpus().length} × ${cpus()[0]?.model}`, load }
}

async function main(): Promise<void> {
  const { names, json, options } = readRequest(process.argv.slice(2))
  const known = [...MEASUREMENTS.keys()]
  const unknown = names.find((name) => !MEASUREMENTS.has(name))
  if (unknown !== undefined) throw new Error(`No measurement "${unknown}"; there are: ${known.join(', ')}`)
  const machine = machineFacts()
  const rows = await measure(names.length > 0 ? names : known.filter((name) => !ON_REQUEST.includes(name)), options)
  if (json) console.log(JSON.stringify({ machine, rows }, undefined, 2))
  else {
    console.log(`\nMedians; Node ${machine.node}, ${machine.processors}, load ${machine.load} before the start\n`)
    console.log(printTable(rows))
  }
}

await main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
})
