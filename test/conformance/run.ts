import { execFile, execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs, promisify } from 'node:util'
import * as z from 'zod'

// Runs the client scenarios of the protocol's own conformance suite against Parley and prints them as a table. The suite
// needs Node 22: both are installed in a folder that is removed again, and Parley runs on the Node of this process.

const SUITE = '@modelcontextprotocol/conformance@0.2.0-alpha.12'
/** What the package `node` consists of: that one fetches it by a script, which npm may be told not to run. */
const NODE = `node-${process.platform}-${process.arch}`
const VERSIONS = ['2025-06-18', '2025-11-25'] as const
const CLIENT = fileURLToPath(new URL('client.js', import.meta.url))
const WITHIN_MS = 150_000

interface Exception {
  readonly scenario: string
  /** The checks that may fail. */
  readonly checks: readonly string[]
  /** What the specification says of it. */
  readonly why: string
}

/** What Parley does otherwise on purpose. A scenario that passes is to be taken out: until then the run fails. */
const EXCEPTIONS: readonly Exception[] = [
  {
    scenario: 'json-schema-2020-12-preservation',
    checks: ['$schema', '$defs', 'additionalProperties'].map((key) => `json-schema-2020-12-client-${key}-preserved`),
    why: 'By "JSON Schema Usage" (2025-11-25, basic) clients support 2020-12; no model has to see a schema as it came.',
  },
]

const CHECKS = z.array(
  z.object({
    id: z.string(),
    status: z.enum(['SUCCESS', 'FAILURE', 'WARNING', 'SKIPPED', 'INFO']),
    description: z.string(),
    errorMessage: z.string().optional(),
  }),
)

interface Ran {
  readonly version: string
  readonly scenario: string
  readonly passed: number
  /** By id, in words. */
  readonly failed: ReadonlyMap<string, string>
  /** What the client said, for a scenario that failed. */
  readonly said: string
}

const { values } = parseArgs({
  options: { only: { type: 'string', default: '' }, verbose: { type: 'boolean', default: false } },
})
const folder = mkdtempSync(join(tmpdir(), 'parley-suite-'))
try {
  const suite = install()
  const runs: Ran[] = []
  tell(`version     ${'scenario'.padEnd(36)}  passed  failed`)
  for (const version of VERSIONS) {
    for (const scenario of await scenariosOf(suite, version)) {
      if (!scenario.includes(values.only)) continue
      const ran = await run(suite, version, scenario)
      runs.push(ran)
      tell(rowOf(ran).join('  '))
    }
  }
  process.exitCode = report(runs) ? 0 : 1
} finally {
  rmSync(folder, { recursive: true })
}

type Suite = (...args: readonly string[]) => Promise<{ readonly code: number; readonly stdout: string }>

function install(): Suite {
  const args = ['install', '--prefix', folder, '--no-save', '--no-audit', '--loglevel', 'error', SUITE, `${NODE}@22`]
  execFileSync('npm', args, { stdio: ['ignore', 'ignore', 'inherit'] })
  const modules = join(folder, 'node_modules')
  const node = join(modules, NODE, 'bin', 'node')
  const entry = join(modules, SUITE.slice(0, SUITE.lastIndexOf('@')), 'dist', 'index.js')
  return async (...given) => {
    const running = promisify(execFile)(node, [entry, ...given], { maxBuffer: 64 * 1024 * 1024 })
    return running.then(
      ({ stdout }) => ({ code: 0, stdout }),
      ({ code, stdout }: { code: number; stdout: string }) => ({ code, stdout }),
    )
  }
}

async function scenariosOf(suite: Suite, version: string): Promise<string[]> {
  const { stdout } = await suite('list', '--client', '--spec-version', version)
  const found = [...stdout.matchAll(/^ +- (\S+)/gm)].map(([, name = '']) => name)
  if (found.length === 0) throw new Error(`The suite lists no scenario for ${version}.`)
  return found
}

async function run(suite: Suite, version: string, scenario: string): Promise<Ran> {
  const results = mkdtempSync(join(folder, 'results-'))
  const where = ['--scenario', scenario, '--spec-version', version, '--output-dir', results]
  const command = `"${process.execPath}" "${CLIENT}"`
  const { code } = await suite('client', ...where, '--timeout', String(WITHIN_MS), '--command', command)
  const file = readdirSync(results, { recursive: true, encoding: 'utf8' }).find((name) => name.endsWith('checks.json'))
  if (file === undefined) throw new Error(`The suite has not run ${scenario}.`)
  const checks = CHECKS.parse(JSON.parse(readFileSync(join(results, file), 'utf8')))
  const bad = checks.filter(({ status }) => status === 'FAILURE' || status === 'WARNING')
  const failed = new Map(bad.map(({ id, errorMessage, description }) => [id, errorMessage ?? description]))
  if (code !== 0 && failed.size === 0) failed.set('client', 'it ended with an error, or took too long')
  const output = ['stdout.txt', 'stderr.txt'].map((name) => readFileSync(join(results, dirname(file), name), 'utf8'))
  const passed = checks.filter(({ status }) => status === 'SUCCESS').length
  return { version, scenario, passed, failed, said: output.join('').trim() }
}

function exceptionFor(scenario: string, check: string): Exception | undefined {
  return EXCEPTIONS.find((one) => one.scenario === scenario && one.checks.includes(check))
}

function rowOf({ version, scenario, passed, failed }: Ran): string[] {
  const isExcepted = [...failed.keys()].every((check) => exceptionFor(scenario, check))
  const state = failed.size === 0 ? 'passed' : isExcepted ? 'excepted' : 'FAILED'
  return [version, scenario.padEnd(36), String(passed).padStart(6), String(failed.size).padStart(6), state]
}

/** Says what failed and why. Returns true if that was nothing but what is excepted. */
function report(runs: readonly Ran[]): boolean {
  const bad = runs.filter(({ failed }) => failed.size > 0)
  for (const ran of bad) tell(wordsOf(ran).join('\n'))
  const unexcused = bad.filter(({ scenario, failed }) => [...failed.keys()].some((id) => !exceptionFor(scenario, id)))
  const outdated = runs.filter(
    (ran) => ran.failed.size === 0 && EXCEPTIONS.some((one) => one.scenario === ran.scenario),
  )
  for (const { scenario } of outdated) tell(`\n${scenario} passes; take it out of the exceptions`)
  const excepted = bad.length - unexcused.length
  tell(`\n${runs.length} runs: ${runs.length - bad.length} passed, ${excepted} excepted, ${unexcused.length} failed`)
  return runs.length > 0 && unexcused.length + outdated.length === 0
}

function wordsOf({ version, scenario, failed, said }: Ran): string[] {
  const exceptions = new Set([...failed.keys()].map((id) => exceptionFor(scenario, id)))
  const reasons = [...exceptions].flatMap((one) => (one ? [`  ${one.why}`] : []))
  const checks = [...failed].map(
    ([id, words]) => `  ${exceptionFor(scenario, id) ? 'excepted' : 'FAILED'} ${id}: ${words}`,
  )
  return [
    `\n${scenario}, ${version}`,
    ...checks,
    ...reasons,
    ...(values.verbose ? [said.replace(/^/gm, '    | ')] : []),
  ]
}

function tell(line: string): void {
  process.stdout.write(`${line}\n`)
}
