import { type Approvals, createApprovals } from '../approvals/approval-service.ts'
import type { Config } from '../config/config.ts'
import { formatAddress } from '../core/address.ts'
import { senderAuthor } from '../core/author.ts'
import type { CloseCards } from '../core/card.ts'
import type { Clock } from '../core/clock.ts'
import { type IdSource, toPersonId } from '../core/ids.ts'
import type { Logger } from '../core/logger.ts'
import { isOwnersNow, tokenOfDoer } from '../core/token.ts'
import type { Hooks } from '../hooks/hooks.ts'
import { identityOfAuthor } from '../sessions/people/author-identity.ts'
import type { OwnerChats } from '../sessions/people/owner-chats.ts'
import { placeTitle } from '../sessions/service/place-title.ts'
import { turnAuthors } from '../sessions/turns/turn-authority.ts'
import { channelLogs, withWordsOfChannel } from '../sessions/view/channel-words.ts'
import type { Store } from '../store/store.ts'
import { askersOf } from './askers-of.ts'
import type { Entrance } from './entrance.ts'
import type { Lookups } from './lookups.ts'
import type { CurrentRouting } from './reload.ts'

export interface MakeApprovalsDeps {
  readonly config: Config
  readonly store: Store
  readonly clock: Clock
  readonly ids: IdSource
  readonly logger: Logger
  readonly policies: CurrentRouting
  readonly lookups: Pick<Lookups, 'roleOf' | 'whoIs'>
  readonly people: { readonly ownerChats: Pick<OwnerChats, 'nearest'> }
  readonly entrance: Pick<Entrance, 'accept'>
  readonly closeCards: CloseCards
  readonly hooks: Pick<Hooks, 'has' | 'beforeSave' | 'beforeTool'>
}

/** Returns the approvals with the authors of this daemon's sessions and the chats of its owners. */
export function makeApprovals(parts: MakeApprovalsDeps): Approvals {
  const { config, store, clock, ids, logger, policies, lookups, people, entrance, closeCards, hooks } = parts
  const { read } = store
  const { channels } = policies.routing()
  return createApprovals({
    ...{ store, clock, ids, closeCards, accept: entrance.accept },
    logger: logger.child({ subsystem: 'approvals' }),
    rules: config.toolPolicy ?? [],
    ...(hooks.has('before_tool') ? { refusedByHook: hooks.beforeTool } : {}),
    async speaking(turn) {
      const authors = await turnAuthors({ read, channels }, turn)
      return Promise.all(authors.map(async (author) => ({ author, ...(await identityOfAuthor(lookups, author)) })))
    },
    askersOf: askersOf({ read, channels, whoIs: lookups.whoIs }),
    answers({ channel }, sender, approvers) {
      const { role, person } = lookups.whoIs(senderAuthor(channels, channel, sender))
      return role === 'owner' || (person !== undefined && approvers.includes(person))
    },
    async isOwnerNow(by) {
      const token = tokenOfDoer(by)
      if (token !== undefined) {
        const stored = await read.tokens.get(token)
        return stored !== undefined && isOwnersNow(stored, clock.now())
      }
      const { role } = by.includes(':') ? lookups.whoIs(by) : { role: await lookups.roleOf(toPersonId(by)) }
      return role === 'owner'
    },
    chatsOf: people.ownerChats.nearest,
    withWords: (session, events) => withWordsOfChannel(events, channelLogs(read, session)),
    async nameOf(address, session) {
      const { title } = await placeTitle(read, address, session)
      // Nothing in a title ends a code span: a group's name could say that its owner has agreed already.
      return `\`${title ?? formatAddress(address)}\``
    },
  })
}
