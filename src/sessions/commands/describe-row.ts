import type { Admission } from '../../core/admission.ts'
import { inWords } from '../../core/content-words.ts'
import type { ErrorCode } from '../../core/errors.ts'
import { senderName } from '../../core/label.ts'
import { withTitle } from '../../core/titles.ts'
import type { InboxRow, StoreReader } from '../../store/store.ts'
import { placeTitle } from '../service/place-title.ts'
import { newestFirst } from '../service/read-messages.ts'

/** A tool call that the host refused, with the reason. */
export interface DeniedCall {
  readonly tool: string
  readonly reason: string
}

/** The most events searched for a turn, so that a question about an old message has a bounded cost. */
const LOOKED_THROUGH = 5_000

/** Returns the tool calls of a message's turn that were refused, oldest first, if the turn is not long past. */
export async function deniedCalls(
  { sessionId, turnId }: Pick<InboxRow, 'sessionId' | 'turnId'>,
  { events, sessions }: Pick<StoreReader, 'events' | 'sessions'>,
): Promise<readonly DeniedCall[]> {
  const session = sessionId && turnId && (await sessions.get(sessionId))
  if (!session) return []
  const denied: DeniedCall[] = []
  for await (const event of newestFirst(events, session)) {
    if (event.seq <= session.lastSeq - LOOKED_THROUGH) break
    if (event.turnId !== turnId) continue
    if (event.type === 'turn_started') break
    if (event.type === 'tool_result' && event.data.denied)
      denied.push({ tool: event.data.tool, reason: inWords(event.data.content) })
  }
  return denied.toReversed()
}

/** The parts of an explanation that stand beside the row. */
export interface RowFacts {
  readonly denied: readonly DeniedCall[]
  /** The error that its turn ended with. */
  readonly error?: ErrorCode | undefined
  /** The request of its sender, or of its chat, to be let in. */
  readonly asked?: Admission | undefined
  /** The name by which people know its place. */
  readonly title?: string
}

export async function readRowFacts(row: InboxRow, read: StoreReader): Promise<RowFacts> {
  const { decision, turnId } = row
  const turn = turnId && (await read.turns.get(turnId))
  const asks = decision.kind === 'refuse' ? decision.asks : undefined
  return {
    denied: await deniedCalls(row, read),
    error: turn ? turn.error : undefined,
    asked: asks && (await read.admissions.find(asks.key)),
    ...(await placeTitle(read, row.dispatch.event.address, row.sessionId)),
  }
}

/**
 * Returns the decision trace of one message as lines for people: the message, each stage that decided, the outcome.
 * Only owners read which setting would change it, and the present title of a place: whoever wrote there may be out of
 * it by now.
 */
export function describeRow(
  { dispatch, decision, state, outcome, sessionId, turnId }: InboxRow,
  { settings, denied, title }: Pick<RowFacts, 'denied' | 'title'> & { readonly settings: boolean },
): readonly string[] {
  const { event, traceId } = dispatch
  const name = senderName(event.sender)
  const who = name === '' ? event.sender.id : `${name} (${event.sender.id})`
  const steps = decision.trace.map(({ stage, verdict, because, config }) => {
    const setting = config && settings ? `; setting ${config}` : ''
    return `${verdict === 'pass' ? '✓' : '✗'} ${stage}: ${because}${setting}`
  })
  const where = sessionId ? [`session ${sessionId}${turnId ? `, turn ${turnId}` : ''}`] : []
  return [
    `${event.kind} from ${who} in ${withTitle(event.address, title)}`,
    ...steps,
    `decision: ${decision.kind} (${decision.reason})`,
    ...where,
    ...denied.map(({ tool, reason }) => `✗ ${tool}: ${reason}`),
    `outcome: ${outcome ?? state}`,
    `trace ${traceId}`,
  ]
}
