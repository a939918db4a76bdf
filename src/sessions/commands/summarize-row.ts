import type { Admission } from '../../core/admission.ts'
import type { Decision, TraceStep } from '../../core/dispatch.ts'
import type { ErrorCode } from '../../core/errors.ts'
import type { ChannelId } from '../../core/ids.ts'
import { plainExcerpt } from '../../core/label.ts'
import { failureCause, turnRemedy } from '../../core/model-remedy.ts'
import type { PrecheckVerdict } from '../../core/precheck.ts'
import type { InboxRow } from '../../store/inbox-port.ts'
import { type ContextFacts, channelInWords } from './describe-row.ts'

export interface SummaryFacts {
  /** The reader may change settings and let people in. */
  readonly settings: boolean
  /** The error that its turn ended with. */
  readonly error?: ErrorCode | undefined
  /** The channel where it was said. */
  readonly channel?: ChannelId | undefined
  /** The model that its turn failed with. */
  readonly model?: string | undefined
  /** The verdict of the check before its turn. */
  readonly precheck?: PrecheckVerdict | undefined
  /** The reason that the model gave for saying nothing. */
  readonly silence?: string | undefined
  /** The budget that its turn did not fit, in words. */
  readonly budget?: string | undefined
  /** The part of the conversation that its turn was shown. */
  readonly context?: Pick<ContextFacts, 'thread'> | undefined
  /** The request of its sender, or of its chat, to be let in. */
  readonly asked?: Pick<Admission, 'code' | 'state' | 'kind'> | undefined
}

export type SummarizedRow = Pick<InboxRow, 'decision' | 'state' | 'outcome'>

/**
 * Returns one sentence: what was decided about a message, why, and which command or setting changes that. Another one
 * says what its thread was shown of the channel.
 */
export function summarizeRow(row: SummarizedRow, facts: SummaryFacts): string {
  const step = decisiveStep(row.decision)
  const because = step?.because ?? row.decision.reason
  const setting = step?.config === undefined || !facts.settings ? undefined : `the setting ${step.config} changes that`
  if (row.outcome === 'forgotten')
    return sentence('Forgotten', '`/forget` or an age limit took out its words', undefined)
  if (row.outcome === 'aged') return sentence('Forgotten', 'an age limit took out its words', undefined)
  if (row.outcome === 'ignored: unchanged')
    return sentence('Not answered', 'the message reads as it did before', undefined)
  if (row.outcome === 'ignored: own_message')
    return sentence('Not answered', 'it is a copy of what I said myself', undefined)
  switch (row.decision.kind) {
    case 'run':
      return [ofRun(row, facts, { because, setting }), channelInWords(facts.context ?? {})].join(' ').trimEnd()
    case 'context':
      return sentence(
        'Remembered and not answered',
        because,
        remedyOfContext(row.decision.reason, step, facts) ?? setting,
      )
    case 'control':
      return ofCommand(row, row.decision.command)
    case 'amend':
      return sentence(
        row.decision.reason === 'edited'
          ? 'Stored as the new text of an earlier message and not answered'
          : 'Stored as the deletion of an earlier message',
        because,
        setting,
      )
    case 'refuse':
      return sentence('Refused', because, remedyOfRefusal(row.decision, facts) ?? setting)
    case 'ignore':
      return sentence('Ignored', because, remedyOfIgnored(row.decision.reason, step, facts) ?? setting)
  }
}

interface Reason {
  readonly because: string
  readonly setting: string | undefined
}

const SAY_AGAIN = 'the same message, sent again, is answered'
const CROWDED = 'too many people whom nobody let in by name wrote at the same time'

function ofRun({ state, outcome, decision }: SummarizedRow, facts: SummaryFacts, { because, setting }: Reason): string {
  const settingOf = (path: string): string | undefined =>
    facts.settings ? `the setting ${path} changes that` : undefined
  switch (outcome) {
    case undefined:
      return sentence(state === 'waiting' ? 'Waiting for its turn' : 'Being answered now', because, '`/stop` ends it')
    case 'answered':
      return sentence('Answered', because, setting)
    case 'silent':
      return ofSilence(facts, settingOf)
    case 'failed':
    case 'quarantined':
      if (facts.budget !== undefined)
        return sentence(
          'Not answered',
          facts.settings ? `a budget is used up (${facts.budget})` : 'a budget is used up',
          settingOf('budgets') ?? '`/budget` says when it begins anew',
        )
      return ofFailure(facts.error ?? (outcome === 'quarantined' ? 'quarantined' : 'internal'), facts)
    case 'cancelled':
      return sentence('Not answered', '`/stop` or a later message ended its turn', SAY_AGAIN)
    case 'taken_back':
      return sentence('Taken back', '`/undo` removed it and the answer to it from what I know', undefined)
    case 'refused: queue_full':
      return sentence('Refused', 'too many messages waited in this conversation', settingOf('session.queue.max'))
    case 'refused: unreadable':
      return sentence(
        'Refused',
        'the record of this conversation cannot be read',
        facts.settings ? 'the log names the row' : undefined,
      )
    case 'refused: parted':
      return sentence('Refused', 'its sender was parted from this conversation before it was answered', SAY_AGAIN)
    case 'refused: public_full':
      return sentence('Refused', CROWDED, settingOf('session.publicTurns'))
    case 'refused: send_policy': {
      const send = decision.trace.find(({ stage }) => stage === 'send-policy')
      return sentence('Answered and not sent', 'sending was denied by then', sendRemedy(send, facts.settings))
    }
    case 'ignored: restored':
      return sentence('Not answered', 'it waited in an older copy of the database', SAY_AGAIN)
    default:
      return sentence('Not answered', outcome, undefined)
  }
}

function ofSilence({ precheck, silence }: SummaryFacts, settingOf: (path: string) => string | undefined): string {
  if (precheck?.answer === false)
    return sentence(
      'Remembered and not answered',
      `the pre-check decided that the agent is not asked (${plainExcerpt(precheck.because, LONGEST_REASON)})`,
      settingOf('routing.access.groups[].precheck'),
    )
  const reason = silence === undefined ? '' : ` (${silence})`
  return sentence('Read and not answered', `the agent chose to say nothing${reason}`, 'its instructions change that')
}

const LONGEST_REASON = 300

function ofFailure(code: ErrorCode, { settings, model, channel }: SummaryFacts): string {
  const remedy = turnRemedy(code, { model, channel }).replace(/\.$/, '')
  return sentence('Not answered', failureCause(code), settings ? lowerFirst(remedy) : undefined)
}

function ofCommand({ state, outcome }: SummarizedRow, command: string): string {
  if (state !== 'done') return sentence('Waiting to be run', `it is the command /${command}`, undefined)
  if (outcome === 'unanswered: public_full') {
    return sentence(`Run as the command /${command} and not answered`, CROWDED, undefined)
  }
  if (outcome?.startsWith('refused: ')) {
    return sentence(`The command /${command} was refused`, outcome.slice('refused: '.length), undefined)
  }
  return sentence('Run as a command', `the message begins with /${command}`, undefined)
}

function remedyOfContext(
  reason: Extract<Decision, { kind: 'context' }>['reason'],
  step: TraceStep | undefined,
  { settings }: SummaryFacts,
): string | undefined {
  switch (reason) {
    case 'send_policy':
      return sendRemedy(step, settings)
    case 'muted':
      return settings ? '`/mute off` there changes that' : undefined
    case 'restored':
      return SAY_AGAIN
    case 'not_addressed':
    case 'others_mentioned':
      return settings ? undefined : 'a message that mentions the bot is answered'
    case 'bot':
      return settings && step?.config?.endsWith('.bots')
        ? `the setting ${step.config} changes that, with its id in botIds`
        : undefined
    default:
      return undefined
  }
}

function remedyOfIgnored(
  reason: Extract<Decision, { kind: 'ignore' }>['reason'],
  step: TraceStep | undefined,
  { settings }: SummaryFacts,
): string | undefined {
  if (reason === 'restored') return SAY_AGAIN
  if (reason !== 'bot' || step?.config === undefined || !settings) return undefined
  const rule = /^(.*)\.bots$/.exec(step.config)?.[1]
  // A place without a rule needs one first.
  const where = rule ?? `a rule for this chat under ${step.config}`
  return `\`bots: context\` in ${where} lets the agent know what they say`
}

function sendRemedy(step: TraceStep | undefined, settings: boolean): string | undefined {
  if (!settings) return undefined
  // A session that `/send` has silenced follows no setting.
  if (step?.verdict === 'stop' && step.config === undefined) return '`/send on` or `/send inherit` there changes that'
  return `\`/send on\` there or the setting ${step?.config ?? 'session.sendPolicy'} changes that`
}

function remedyOfRefusal(
  { reason, asks }: Extract<Decision, { kind: 'refuse' }>,
  { asked, settings }: SummaryFacts,
): string | undefined {
  if (reason === 'no_owner_yet') return 'the code that `parley status` prints makes you the owner'
  if (asks === undefined) return undefined
  if (!settings) return asks.kind === 'person' ? 'an owner can let you in' : 'an owner can open this chat'
  if (asked === undefined) return undefined
  switch (asked.state) {
    case 'asked':
      return `\`/admit ${asked.code}\` ${asked.kind === 'person' ? 'lets them in' : 'opens this chat'}`
    case 'denied':
      return `an owner denied it since, and \`/admit ${asked.code}\` takes that back`
    case 'admitted':
      return 'an owner let them in since'
  }
}

/** Returns the step that stopped the message, or the last one where none did. */
function decisiveStep({ trace }: Decision): TraceStep | undefined {
  return trace.findLast(({ verdict }) => verdict === 'stop') ?? trace.at(-1)
}

function sentence(verdict: string, because: string, change: string | undefined): string {
  return `${verdict}: ${because.replace(/\.$/, '')}${change === undefined ? '' : `; ${change}`}.`
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1)
}
