import { type Address, parseAddress } from '../../core/address.ts'
import { type Caller, inNamespace } from '../../core/caller.ts'
import { ParleyError } from '../../core/errors.ts'
import { isOwner, noSuchSession } from './session-access.ts'

const NAME = /^[a-z0-9][a-z0-9_.:-]{0,99}$/

/**
 * Returns the address of a client's own session. Only an owner opens one outside of their own names. Throws `not_found`
 * for a name that is not the caller's to open, and `invalid` for one of theirs that nothing can have.
 */
export function ownAddress(caller: Caller, name: string): Address {
  const [, channel, rest = ''] = /^(cli|web|api):(.*)$/s.exec(name) ?? []
  const allowed = isOwner(caller) || (caller.kind === 'token' && inNamespace(caller.namespace, name))
  if (!channel || !allowed) throw noSuchSession(name)
  if (!NAME.test(rest))
    throw new ParleyError(
      'invalid',
      `"name" has behind "${channel}:" 1 to 100 of a-z, 0-9, ".", "_", ":" and "-", a letter or digit first.`,
    )
  if (/^(direct|group|channel):/.test(rest))
    throw new ParleyError(
      'invalid',
      `${name} reads like the key of a chat; begin the name after "${channel}:" with another word.`,
    )
  return parseAddress(`${channel}:direct:${rest}`)
}
