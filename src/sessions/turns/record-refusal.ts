import type { Applicant } from '../../core/admission.ts'
import type { Dispatch } from '../../core/dispatch.ts'
import type { IdSource, InboxId } from '../../core/ids.ts'
import type { InboundEvent } from '../../core/message.ts'
import type { StoreWriter } from '../../store/store.ts'

/** What is older when an applicant is let in is not handled any more. */
export const KEPT_MS = 24 * 3_600_000

/** In the commit of a refused message: its applicant has asked, and the message waits for the admission. */
export async function recordRefusal(
  tx: StoreWriter,
  { id, dispatch, asks }: { readonly id: InboxId; readonly dispatch: Dispatch; readonly asks: Applicant },
  ids: Pick<IdSource, 'code'>,
): Promise<void> {
  const { event, traceId, receivedAt: at } = dispatch
  await tx.admissions.ask({ ...asks, code: ids.code(), name: nameOf(event), address: event.address, traceId }, at)
  if (event.kind !== 'membership') await tx.admissions.refuse(asks.key, id, { at, since: at - KEPT_MS })
}

const LONGEST_NAME = 60

/** What people call it, without anything that could pass for more than a name: no markup, no lines, no mention. */
function nameOf(event: InboundEvent): string {
  const { displayName, username } = event.sender
  const name = (event.kind === 'membership' ? event.chatTitle : undefined) ?? displayName ?? username ?? ''
  return name
    .replace(/[^\p{L}\p{N} .'-]/gu, ' ')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, LONGEST_NAME)
}
