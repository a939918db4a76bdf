import { setTimeout } from 'node:timers/promises'
import type { DaemonProcess } from './daemon-process.ts'

/** The daemon's record of one message. */
export interface Decision {
  readonly outcome: string
  /** The decision and its reason, for people. */
  readonly line: string
}

/** A message by its platform id and its chat (each chat counts its ids separately), or a run by its trace. */
export interface Asked {
  readonly message: string
  readonly chat: string
}

/** The part of the daemon's answer that is shown; `parley why` prints the whole. */
interface Report {
  readonly messageId?: string
  readonly address: string
  readonly decision: string
  readonly reason: string
  readonly outcome: string
  readonly session?: string
  readonly steps: readonly { readonly stage: string; readonly verdict: string; readonly because: string }[]
}

/** Asks the daemon why it decided as it did. Returns undefined if it has no record. */
export async function askWhy(daemon: DaemonProcess, { message, chat }: Asked): Promise<Decision | undefined> {
  const reports = (await daemon.ask(`/v1/why?${new URLSearchParams({ message })}`)) as readonly Report[]
  const report = reports.find(({ address }) => address.split('/')[0]?.endsWith(`:${chat}`))
  if (!report) return undefined
  const decisive = report.steps.find(({ verdict }) => verdict === 'stop') ?? report.steps.at(-1)
  const because = decisive ? ` (${decisive.because})` : ''
  return { outcome: report.outcome, line: `${VERBS[report.decision] ?? report.decision}${because}` }
}

const OPEN = ['waiting', 'claimed']
const ASK_AGAIN_MS = 25
const WITHIN_MS = 60_000

/** Resolves with the decision as soon as the daemon has stored the message. Rejects if it does not within a minute. */
export function awaitDecision(daemon: DaemonProcess, asked: Asked): Promise<Decision> {
  return awaitRecord(daemon, asked, () => true)
}

/** Resolves with the final outcome of a message that may never show in a chat, by asking until there is one. */
export async function awaitOutcome(daemon: DaemonProcess, asked: Asked): Promise<string> {
  return (await awaitRecord(daemon, asked, ({ outcome }) => !OPEN.includes(outcome))).outcome
}

interface Status {
  readonly runningTurns: number
  readonly waiting: number
  readonly outbox: Readonly<Record<string, number>>
}

/** States of a message of ours that is not out, or whose end is not known. */
const UNSENT = ['planned', 'sending', 'waiting', 'uncertain']

/** Returns true if no turn runs or waits, and everything that was to be said is out. */
export async function owesNothing(daemon: DaemonProcess): Promise<boolean> {
  const { runningTurns, waiting, outbox } = (await daemon.ask('/v1/status')) as Status
  return [runningTurns, waiting, ...UNSENT.map((state) => outbox[state] ?? 0)].every((count) => count === 0)
}

/** Resolves once it owes nothing. Rejects if it still does after a minute. */
export async function awaitNothingOwed(daemon: DaemonProcess): Promise<void> {
  for (const end = Date.now() + WITHIN_MS; !(await owesNothing(daemon)); await setTimeout(ASK_AGAIN_MS))
    if (Date.now() > end) throw new Error('The daemon still owes an answer.')
}

async function awaitRecord(
  daemon: DaemonProcess,
  asked: Asked,
  done: (decision: Decision) => boolean,
): Promise<Decision> {
  for (const end = Date.now() + WITHIN_MS; ; await setTimeout(ASK_AGAIN_MS)) {
    const decision = await askWhy(daemon, asked)
    if (decision && done(decision)) return decision
    if (Date.now() > end)
      throw new Error(`message ${asked.message}: ${decision?.outcome ?? 'the daemon has no record'}`)
  }
}

const VERBS: Readonly<Record<string, string>> = {
  run: 'answers',
  context: 'remembers it, says nothing',
  control: 'obeys the command',
  refuse: 'refuses',
  ignore: 'ignores it',
}
