import type { Identity } from '../../core/dispatch.ts'
import type { PersonId } from '../../core/ids.ts'
import { type AuthorId, NOBODY, OPERATOR, personOfAuthor } from '../../core/platform-id.ts'
import type { Role } from '../../core/session.ts'
import type { Principal } from '../../core/turn.ts'

export interface AuthorLookup {
  /** Returns the present identity of a platform id. */
  whoIs(platformId: string): Identity
  roleOf(person: PersonId): Promise<Role>
}

/** Returns who an author is now: a link or a role that ended counts no more. */
export async function identityOfAuthor({ whoIs, roleOf }: AuthorLookup, author: AuthorId): Promise<Principal> {
  if (author === OPERATOR) return { role: 'owner' }
  if (author === NOBODY) return { role: 'guest' }
  const person = personOfAuthor(author)
  return person === undefined ? whoIs(author) : { person, role: await roleOf(person) }
}
