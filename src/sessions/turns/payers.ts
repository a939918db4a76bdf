import type { Payer } from '../../core/budget.ts'
import type { Channels } from '../../core/channel-traits.ts'
import { platformIdOf } from '../../core/platform-id.ts'
import type { InboxRow } from '../../store/store.ts'

type Asking = Pick<InboxRow, 'dispatch'> & {
  readonly decision: Pick<InboxRow['decision'], 'identity'> & { readonly public?: true | undefined }
}

/** Everybody who pays for the answer to some messages. */
export interface Payers {
  /** The newest first, each once. Nobody for what no person asked. */
  readonly askers: readonly Payer[]
  /** Everything is from people whom nobody let in by name, or from turns that answer such people. */
  readonly strangers: boolean
}

/** Returns who pays for the answer to these messages. Pure; ids alone. */
export function payersOf(channels: Channels, rows: readonly Asking[]): Payers {
  const askers = new Map<string, Payer>()
  for (const row of rows.toReversed()) {
    const payer = askerOf(channels, row)
    if (payer) askers.set(`${payer.kind}:${payer.id}`, payer)
  }
  return { askers: [...askers.values()], strangers: rows.length > 0 && rows.every(isForStrangers) }
}

function askerOf(channels: Channels, { dispatch, decision }: Asking): Payer | undefined {
  const { person } = decision.identity
  if (person !== undefined) return { kind: 'person', id: person }
  if (dispatch.origin !== 'platform') return undefined
  const { sender, address } = dispatch.event
  const id = platformIdOf(channels, address.channel, sender)
  return { kind: decision.public ? 'stranger' : 'person', id }
}

function isForStrangers({ dispatch, decision }: Asking): boolean {
  const { person, role } = decision.identity
  return decision.public === true || (dispatch.posted !== undefined && person === undefined && role === 'guest')
}
