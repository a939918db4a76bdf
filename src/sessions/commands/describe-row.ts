import { formatAddress } from '../../core/address.ts'
import { senderName } from '../../core/label.ts'
import type { InboxRow, StoreReader } from '../../store/store.ts'

/** A tool call that the host refused, and why. */
export interface DeniedCall {
  readonly tool: string
  readonly reason: string
}

/** More results of tools than the longest turn has. */
const RESULTS = 200

/** Returns the tool calls of a message's turn that were refused, oldest first. */
export async function deniedCalls(
  { sessionId, turnId }: Pick<InboxRow, 'sessionId' | 'turnId'>,
  { events }: Pick<StoreReader, 'events'>,
): Promise<readonly DeniedCall[]> {
  if (sessionId === undefined || turnId === undefined) return []
  const results = await events.latestOf(sessionId, ['tool_result'], RESULTS)
  return results.flatMap((event) =>
    event.type === 'tool_result' && event.turnId === turnId && event.data.denied
      ? [{ tool: event.data.tool, reason: event.data.content }]
      : [],
  )
}

/**
 * Returns the decision trace of one message as lines for people: what came, each stage that looked, what became of it.
 * Only those who may change settings are told which setting would flip it.
 */
export function describeRow(
  { dispatch, decision, state, outcome, sessionId, turnId }: InboxRow,
  { settings, denied }: { readonly settings: boolean; readonly denied: readonly DeniedCall[] },
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
    `${event.kind} from ${who} in ${formatAddress(event.address)}`,
    ...steps,
    `decision: ${decision.kind} (${decision.reason})`,
    ...where,
    ...denied.map(({ tool, reason }) => `✗ ${tool}: ${reason}`),
    `outcome: ${outcome ?? state}`,
    `trace ${traceId}`,
  ]
}
