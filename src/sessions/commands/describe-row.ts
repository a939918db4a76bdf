import { formatAddress } from '../../core/address.ts'
import type { InboxRow } from '../../store/store.ts'

/**
 * The decision trace of one message as lines for people: what came, each stage that looked, what became of it. Which
 * setting would flip it is for those who may change one.
 */
export function describeRow(
  { dispatch, decision, state, outcome, sessionId, turnId }: InboxRow,
  { settings }: { readonly settings: boolean },
): readonly string[] {
  const { event, traceId } = dispatch
  const who = event.sender.displayName ? `${event.sender.displayName} (${event.sender.id})` : event.sender.id
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
    `outcome: ${outcome ?? state}`,
    `trace ${traceId}`,
  ]
}
