import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import type { FaultCase } from './fault-case.ts'
import type { FaultCount } from './fault-count.ts'
import { proves, REGISTER } from './register.ts'

/** The bundle lies in a folder of the build. */
const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const RUNS = process.env.CI === undefined ? '20' : '5'

/** One test of the JSON report, as far as it is read. */
interface Outcome {
  /** Its own and those of the groups it is in. */
  readonly titles: readonly string[]
  readonly status: string
  readonly count: FaultCount | undefined
}

interface JsonReport {
  readonly testResults: readonly {
    readonly name: string
    readonly assertionResults: readonly {
      readonly title: string
      readonly ancestorTitles: readonly string[]
      readonly status: string
      readonly meta?: { readonly faults?: FaultCount }
    }[]
  }[]
}

const { values } = parseArgs({
  options: { runs: { type: 'string', default: RUNS }, only: { type: 'string' } },
})
const wanted = chosen(values.only)
const tested = wanted.filter(({ waitsFor }) => waitsFor === undefined)
const outcomes = tested.length === 0 ? [] : run(tested, values.runs)
const rows = wanted.map((one) => rowOf(one, outcomes))
console.log(table([['case', 'what', 'runs', 'lost', 'doubled', 'marked', 'state'], ...rows.map(({ cells }) => cells)]))
process.exitCode = rows.some(({ failed }) => failed) ? 1 : 0

/** `F-A01`, one or several with commas between; a group by its letter, `F-A`. The `F-` may be left out. */
function chosen(only: string | undefined): readonly FaultCase[] {
  if (only === undefined) return REGISTER
  const names = only.split(',').map((name) => `F-${name.replace(/^F-/, '')}`)
  const found = REGISTER.filter(({ code }) => names.some((name) => code.startsWith(name)))
  if (found.length === 0) throw new Error(`No case is called ${only}.`)
  return found
}

/** Runs the tests of these cases alone. */
function run(cases: readonly FaultCase[], runs: string): Outcome[] {
  const folder = mkdtempSync(join(tmpdir(), 'parley-fault-table-'))
  const outputFile = join(folder, 'report.json')
  const codes = cases.map(({ code }) => code)
  const args = ['run', '--config', 'test/vitest.config.ts', '--reporter=json', `--outputFile=${outputFile}`]
  const match = `(${codes.join('|')})\\b`
  spawnSync('npx', ['vitest', ...args, '-t', match, ...filesWith(codes)], {
    cwd: ROOT,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, PARLEY_FAULT_ROUNDS: runs },
  })
  const report = JSON.parse(readFileSync(outputFile, 'utf8')) as JsonReport
  rmSync(folder, { recursive: true })
  return report.testResults.flatMap(({ assertionResults }) =>
    assertionResults.map(({ title, ancestorTitles, status, meta }) => ({
      titles: [...ancestorTitles, title],
      status,
      count: meta?.faults,
    })),
  )
}

/** Returns the test files in which one of these codes stands; a title may be put together from it. */
function filesWith(codes: readonly string[]): string[] {
  return readdirSync(join(ROOT, 'test'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.test.ts'))
    .map((path) => join('test', path))
    .filter((path) => {
      const text = readFileSync(join(ROOT, path), 'utf8')
      return codes.some((code) => text.includes(code))
    })
}

function rowOf(one: FaultCase, all: readonly Outcome[]): { cells: string[]; failed: boolean } {
  const { code, what, waitsFor } = one
  if (waitsFor !== undefined) return { cells: [code, what, '', '', '', '', `waits for ${waitsFor}`], failed: false }
  const mine = all.filter(({ titles }) => proves(titles, one))
  const ran = mine.filter(({ status }) => status === 'passed' || status === 'failed')
  const failed = ran.length === 0 || ran.some(({ status }) => status === 'failed')
  const counts = ran.flatMap(({ count }) => (count === undefined ? [] : [count]))
  const total = (of: keyof FaultCount): string =>
    counts.length === 0 ? '–' : String(counts.reduce((sum, count) => sum + count[of], 0))
  const state = ran.length === 0 ? 'failed: no test ran' : failed ? 'failed' : 'passed'
  const cells = [code, what, String(ran.length), total('lost'), total('doubled'), total('marked'), state]
  return { cells, failed }
}

function table(lines: readonly (readonly string[])[]): string {
  const widths = lines[0]?.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0))) ?? []
  return lines
    .map((line) =>
      line
        .map((cell, at) => cell.padEnd(widths[at] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}
