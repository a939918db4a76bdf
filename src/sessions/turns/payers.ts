import type { Payer } from '../../core/budget.ts'
import type { Namespace } from '../../core/caller.ts'
import type { Channels } from '../../core/channel-traits.ts'
import { platformIdOf } from '../../core/platform-id.ts'
import type { InboxRow } from '../../store/inbox-port.ts'

type Asking = Pick<InboxRow, 'dispatch'> & {
  readonly decision: Pick<InboxRow['decision'], 'identity'> & { readonly public?: true | undefined }
}

/** Everybody who pays for the answer to some messages. */
export interface Payers {
  /** The newest first, each once. Nobody for what no person asked. */
  readonly askers: readonly Payer[]
  /** Everything is from people whom nobody let in by name, or from turns that answer such people. */
  readonly strangers: boolean
  /** The namespaces of the tokens that speak for them. */
  readonly clients: readonly Namespace[]
}

/** Returns who pays for the answer to these messages. Pure; ids alone. */
export function payersOf(channels: Channels, rows: readonly Asking[]): Payers {
  const askers = new Map<string, Payer>()
  for (const row of rows.toReversed()) {
    const payer = askerOf(channels, row)
    if (payer) askers.set(`${payer.kind}:${payer.id}`, payer)
  }
  const clients = new Set(rows.flatMap(({ dispatch }) => dispatch.posted?.client ?? []))
  return {
    askers: [...askers.values()],
    strangers: rows.length > 0 && rows.every(isForStrangers),
    clients: [...clients],
  }
}

function askerOf(channels: Channels, { dispatch, decision }: Asking): Payer | undefined {
  if (dispatch.payer) return dispatch.payer
  const { person } = decision.identity
  if (person !== undefined) return { kind: 'person', id: person }
  const id = dispatch.origin === 'platform' ? senderOf(channels, dispatch) : spokenFor(dispatch)
  return id === undefined ? undefined : { kind: decision.public ? 'stranger' : 'person', id }
}

function senderOf(channels: Channels, { event: { sender, address } }: Asking['dispatch']): string {
  return platformIdOf(channels, address.channel, sender)
}

/** Returns the id in whose name a token has asked. */
function spokenFor({ posted }: Asking['dispatch']): string | undefined {
  return posted?.client === undefined ? undefined : posted.participant
}

function isForStrangers({ dispatch, decision }: Asking): boolean {
  if (dispatch.payer) return dispatch.payer.kind === 'stranger'
  const { person, role } = decision.identity
  return decision.public === true || (dispatch.posted !== undefined && person === undefined && role === 'guest')
}
