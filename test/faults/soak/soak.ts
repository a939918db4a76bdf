import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { readStored } from '../stored.ts'
import { Soaked } from './daemon.ts'
import { answersOf, withHandingOver } from './evidence.ts'
import { slopeOf } from './growth.ts'
import { type PlanOptions, planOf, type Step } from './plan.ts'
import { everywhere, openStage, type Stage } from './stage.ts'
import { type Said, type Tally, tallyOf } from './tally.ts'
import { playFault } from './trouble.ts'

/** Words before those of the plan. */
const FIRST_WORDS = 1_000_000
const SAMPLE_EVERY_MS = 1000
const TOLD_EVERY_MS = 15_000
/** How long everything said may wait for its answer after the last fault. A part of unknown fate holds its chat a minute. */
const DRAINED_WITHIN_MS = 150_000

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '3' },
    seed: { type: 'string', default: '1' },
    kills: { type: 'string', default: '3-60' },
    faults: { type: 'string', default: 'yes' },
    keep: { type: 'boolean', default: false },
  },
})
const plan: PlanOptions = {
  seed: Number(values.seed),
  minutes: Number(values.minutes),
  kills: killsOf(values.kills),
  faults: values.faults !== 'none',
}
const folder = mkdtempSync(join(tmpdir(), 'parley-soak-'))
const stage = await openStage()
const daemon = new Soaked(folder, stage)
const looking = setInterval(() => daemon.sample(), SAMPLE_EVERY_MS)
const telling = setInterval(() => tell(progress()), TOLD_EVERY_MS)

daemon.start()
tell(`seed ${plan.seed}, ${plan.minutes} minutes, in ${folder}; waiting for the first answers`)
// What is said in a place nobody has heard of yet is no platform's to repeat.
await stage.listening()
everywhere((platform, chat) => stage.say(platform, chat, `w${FIRST_WORDS + stage.said.length}`))
await answered()
await play(planOf(plan), stage)
await answered()
clearInterval(telling)
clearInterval(looking)
const unclean = await daemon.stop()
const tally = tallyOf(withHandingOver(stage), answersOf(stage))
const failed = report(tally, unclean)
await stage.close()
if (failed || values.keep) tell(`Its database and log are in ${folder}`)
else rmSync(folder, { recursive: true })
process.exit(failed ? 1 : 0)

/** `3-60`: seconds between two kills, at least and at most. `none`: never. */
function killsOf(text: string): readonly [number, number] | undefined {
  if (text === 'none') return undefined
  const [least = Number.NaN, most = least] = text.split('-').map(Number)
  if (!(least > 0 && most >= least)) throw new Error(`--kills is none, or two numbers of seconds such as 3-60: ${text}`)
  return [least, most]
}

/** Plays every step at its time, and ends with no fault left. */
async function play(steps: readonly Step[], on: Stage): Promise<void> {
  const beganAt = performance.now()
  const ends: (() => void)[] = []
  for (const step of steps) {
    const wait = step.at - (performance.now() - beganAt)
    if (wait > 0) await pause(wait)
    if (step.kind === 'say') on.say(step.platform, step.chat, step.word)
    else if (step.kind === 'kill') await daemon.kill()
    else ends.push(playFault(on, step.platform, step.fault))
    if (step.kind !== 'say') tell(JSON.stringify(step))
  }
  for (const end of ends) end()
}

/** Waits until nothing said is without an answer, or for as long as that may take. */
async function answered(): Promise<void> {
  const until = performance.now() + DRAINED_WITHIN_MS
  while (performance.now() < until) {
    if (tallyOf(stage.said, answersOf(stage)).lost.length === 0) return
    await pause(500)
  }
}

function progress(): string {
  const { said, answered: done, doubled, marked } = tallyOf(stage.said, answersOf(stage))
  return `${said} said, ${done} answered, ${doubled.length} doubled, ${marked} marked, ${daemon.restarts} restarts`
}

/** Prints the table and what was wrong. Returns whether something was. */
function report(tally: Tally, unclean: string[]) {
  const { said, answered: done, lost, doubled, unfinished, outOfOrder, marked, longestWaitMs } = tally
  const stored = readStored(daemon.database)
  const quarantined = stored.turns.filter(({ state }) => state === 'quarantined')
  const slope = slopeOf(daemon.samples)
  const rows: [string, string | number][] = [
    ['messages in', said],
    ['answered', done],
    ['lost', lost.length],
    ['doubled', doubled.length],
    ['unfinished', unfinished.length],
    ['out of order', outOfOrder.length],
    ['marked repeats', marked],
    ['quarantined', quarantined.length],
    ['RSS slope, MB/h', slope === undefined ? '–' : slope.toFixed(1)],
    ['largest RSS, MB', Math.max(0, ...daemon.samples.map(({ rssMb }) => rssMb)).toFixed(0)],
    ['largest WAL, MB', (daemon.largestWal / 2 ** 20).toFixed(1)],
    ['restarts', daemon.restarts],
    ['longest wait for an answer, s', (longestWaitMs / 1000).toFixed(1)],
  ]
  for (const [what, value] of rows) console.log(`${what.padEnd(30)} ${String(value).padStart(10)}`)
  const wrong = [
    ...named('lost', lost),
    ...named('doubled', doubled),
    ...unfinished.map(({ platform, chat, text }) => `unfinished: ${platform} ${chat} ${text}`),
    ...named('out of order', outOfOrder),
    ...quarantined.map(({ id, session_id, error }) => `quarantined: ${id} in ${session_id}: ${error}`),
    ...daemon.unasked.map((end) => `ended by itself: ${end}`),
    ...unclean,
    ...(stored.integrity === 'ok' ? [] : [`integrity_check: ${stored.integrity}`]),
  ]
  for (const line of wrong) console.log(line)
  return wrong.length > 0
}

function named(what: string, messages: readonly Said[]): string[] {
  return messages.map(
    ({ platform, chat, word, at }) => `${what}: ${platform} ${chat} ${word} at ${new Date(at).toISOString()}`,
  )
}

function tell(line: string): void {
  process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${line}\n`)
}
