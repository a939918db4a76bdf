import { type Address, formatAddress } from '../../core/address.ts'
import type { SessionId } from '../../core/ids.ts'
import { addressTitle } from '../../core/titles.ts'
import type { StoreReader } from '../../store/store.ts'

/**
 * Returns `{ title }` with what people call the place of an address: by the session named, else by the newest one of
 * that place; nothing where no name is known. Text for people, never authority.
 */
export async function placeTitle(
  { sessions }: Pick<StoreReader, 'sessions'>,
  address: Address,
  sessionId?: SessionId,
): Promise<{ readonly title?: string }> {
  const named = sessionId && (await sessions.get(sessionId))
  const title = named && addressTitle(address, named.metadata)
  if (title !== undefined) return { title }
  // Display keys have ids in one case where the platform ignores it.
  const key = formatAddress(address)
  for (const name of new Set([key, key.toLowerCase()])) {
    const [newest] = await sessions.under(name, 1)
    const found = newest && addressTitle(address, newest.metadata)
    if (found !== undefined) return { title: found }
  }
  return {}
}
