import { approvedCode } from '../../core/approval.ts'
import type { Channels } from '../../core/channel-traits.ts'
import type { Clock } from '../../core/clock.ts'
import { ParleyError } from '../../core/errors.ts'
import { refuseForgotten } from '../../core/forgetting.ts'
import type { ChannelId, IdSource } from '../../core/ids.ts'
import type { PostsMessages } from '../../core/post-message.ts'
import type { Session } from '../../core/session.ts'
import type { TurnRef } from '../../core/session-tools.ts'
import type { StoreReader } from '../../store/store.ts'
import type { PostNotice } from '../people/post-notice.ts'
import { addressOf } from '../service/address-of.ts'
import { type ChatOwners, isPartedChat } from '../turns/parted-chat.ts'
import { checkVerdict, type Reach } from './reach.ts'
import { sessionNamed, shownKey } from './shown-key.ts'

export interface PostMessageDeps {
  readonly read: StoreReader
  readonly reach: Reach
  readonly clock: Clock
  readonly ids: Pick<IdSource, 'notice' | 'trace'>
  readonly channels: Pick<Channels, 'traits'>
  readonly owners: ChatOwners
  readonly say: PostNotice
  /** Returns true if texts can be posted on the channel. */
  posts(channel: ChannelId): boolean
}

const LONGEST = 8_000
const FOR_EVER_MS = Number.MAX_SAFE_INTEGER

export function createPosts(deps: PostMessageDeps): PostsMessages {
  return {
    async post({ to, text }, turn, callId) {
      if (text.trim() === '' || text.length > LONGEST)
        throw new ParleyError('invalid', `text must have 1 to ${LONGEST} characters.`)
      const session = await target(deps, to, { turn, callId })
      const address = addressOf(session)
      if (!deps.posts(address.channel)) throw new ParleyError('invalid', `${to} has no chat to write to.`)
      // The text is for somebody who is not there any more.
      if (isPartedChat(session, deps.channels, deps.owners))
        throw new ParleyError('invalid', 'The chat of that conversation was parted from it: nothing goes there.')
      const from = await deps.read.sessions.get(turn.sessionId)
      if (from === undefined) throw new ParleyError('not_found', 'This conversation has ended.')
      const { id, scopeKey, displayKey, kind, scope } = from
      const message = {
        ...({ source: deps.ids.notice(), traceId: deps.ids.trace(), class: 'effect', address, text } as const),
        session: { id, scopeKey, displayKey, kind, scope },
      }
      await deps.say(message, async (tx) => {
        await refuseForgotten(tx, turn.id)
        return tx.notices.once(`post:${turn.id}:${callId}`, deps.clock.now(), FOR_EVER_MS)
      })
      return { to: shownKey(session, { turn }) }
    },
  }
}

/** A person who may has read the call and agreed, or everybody behind the turn could have written there. */
async function target(
  { read, reach, owners }: PostMessageDeps,
  name: string,
  { turn, callId }: { readonly turn: TurnRef; readonly callId: string },
): Promise<Session> {
  const session = await sessionNamed(read.sessions, name, { turn }, owners)
  const code = approvedCode(callId)
  const approval = await (code === undefined ? read.approvals.ofCall(turn.id, callId) : read.approvals.get(code))
  const agreed = approval?.state === 'used' && approval.usedBy === turn.id
  if (session && (agreed || checkVerdict(await (await reach.of({ turn })).sends(session)))) return session
  throw new ParleyError('not_found', `There is no conversation ${name}.`)
}
