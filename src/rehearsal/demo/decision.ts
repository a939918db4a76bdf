import { setTimeout } from 'node:timers/promises'
import type { DaemonProcess } from './daemon-process.ts'

/** What the daemon has on record about one message. */
export interface Decision {
  readonly outcome: string
  /** For people: what was decided, and the stage that decided it. */
  readonly line: string
}

/** The part of the daemon's answer that is shown; the whole is what `parley why` prints. */
interface Report {
  readonly messageId?: string
  readonly address: string
  readonly decision: string
  readonly reason: string
  readonly outcome: string
  readonly session?: string
  readonly steps: readonly { readonly stage: string; readonly verdict: string; readonly because: string }[]
}

/** Asks the daemon why it did what it did with a message, by the chat and the message's number there. */
export async function askWhy(daemon: DaemonProcess, chat: number, messageId: number): Promise<Decision> {
  const reports = (await daemon.ask(`/v1/why?message=${messageId}`)) as readonly Report[]
  const report = reports.find(({ address }) => address.split('/')[0]?.endsWith(`:${chat}`))
  if (!report) return { outcome: 'unknown', line: 'the daemon has no record of this message' }
  const decisive = report.steps.find(({ verdict }) => verdict === 'stop') ?? report.steps.at(-1)
  const because = decisive ? ` (${decisive.stage}: ${decisive.because})` : ''
  return { outcome: report.outcome, line: `${VERBS[report.decision] ?? report.decision}${because}` }
}

const OPEN = ['waiting', 'claimed']
const ASK_AGAIN_MS = 50
const OUTCOME_WITHIN_MS = 10_000

/** The final outcome of a message that may never show in a chat: asked for until there is one. */
export async function awaitOutcome(daemon: DaemonProcess, chat: number, messageId: number): Promise<string> {
  for (const end = Date.now() + OUTCOME_WITHIN_MS; ; await setTimeout(ASK_AGAIN_MS)) {
    const { outcome } = await askWhy(daemon, chat, messageId)
    if (!OPEN.includes(outcome) || Date.now() > end) return outcome
  }
}

const VERBS: Readonly<Record<string, string>> = {
  run: 'answers',
  context: 'keeps it as context, says nothing',
  control: 'obeys the command',
  refuse: 'refuses',
  ignore: 'ignores it',
}
