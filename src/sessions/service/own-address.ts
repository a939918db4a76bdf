import { type Address, parseAddress } from '../../core/address.ts'
import { type Caller, inNamespace } from '../../core/caller.ts'
import { ParleyError } from '../../core/errors.ts'
import { isOwner, noSuchSession } from './session-access.ts'

/** Returns the address of a client's own session. Only an owner opens one outside of their own names. */
export function ownAddress(caller: Caller, name: string): Address {
  const [, channel, rest] = /^(cli|web|api):([a-z0-9][a-z0-9_.:-]{0,99})$/.exec(name) ?? []
  const allowed = isOwner(caller) || (caller.kind === 'token' && inNamespace(caller.namespace, name))
  if (!channel || !rest || !allowed) throw noSuchSession(name)
  if (/^(direct|group|channel):/.test(rest))
    throw new ParleyError(
      'invalid',
      `${name} reads like the key of a chat; begin the name after "${channel}:" with another word.`,
    )
  return parseAddress(`${channel}:direct:${rest}`)
}
