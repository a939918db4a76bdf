import type { Address } from '../core/address.ts'
import type { ToolRule } from '../core/approval.ts'
import type { ReplyTarget } from '../core/dispatch.ts'
import type { PersonId, SessionId } from '../core/ids.ts'
import type { Sender } from '../core/message.ts'
import type { Reader } from '../core/outbound.ts'
import { type AuthorId, NOBODY } from '../core/platform-id.ts'
import type { SessionIdentity } from '../core/session.ts'
import { namesOfPlace } from './place-of.ts'
import { approversOf, type Speaking } from './tool-policy.ts'
import { newestOfOthers, type OthersDeps } from './words-of-others.ts'
import type { CardReaders } from './write-cards.ts'

interface CardReadersDeps extends OthersDeps {
  readonly rules: readonly ToolRule[]
  /** Returns true if this sender is an owner now, or one of these people. */
  answers(address: Address, sender: Sender, approvers: readonly PersonId[]): boolean
  /** Returns one private chat for each owner and each of these people, the nearest to an address. */
  chatsOf(
    near: Address,
    approvers: readonly PersonId[],
  ): readonly { readonly address: Address; readonly reader: Reader }[]
  /** Returns the name of a place for people. */
  nameOf(address: Address, session: SessionId): Promise<string>
}

interface AskingTurn {
  readonly session: SessionIdentity
  readonly reply: ReplyTarget
  readonly asked?: { readonly sender?: Sender }
}

interface Asked {
  readonly tool: string
  /** Everybody whose words the turn was shown. */
  readonly speaking: readonly (Speaking & { readonly author: AuthorId })[]
}

/** Returns the people who are asked, and where. */
export async function readersOf(
  deps: CardReadersDeps,
  { session, reply, asked }: AskingTurn,
  { tool, speaking }: Asked,
): Promise<CardReaders> {
  const place = await namesOfPlace(deps.store.read, session)
  const approvers = approversOf(deps.rules, { tool, speaking, place })
  const others = speaking.filter(({ role }) => role !== 'owner')
  return {
    session,
    where: await deps.nameOf(reply.address, session.id),
    others: others.map(({ author, person }) => person ?? (author === NOBODY ? 'nobody I know' : author)),
    newest: others.length === 0 ? undefined : await newestOfOthers(deps, session.id),
    answererIsHere: asked?.sender !== undefined && deps.answers(reply.address, asked.sender, approvers),
    answerers: deps.chatsOf(reply.address, approvers).map(({ address, reader }) => ({ address, reader })),
  }
}
