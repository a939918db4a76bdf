import type { Address } from '../../core/address.ts'
import { type ChatMove, movedAddress, movedDispatch } from '../../core/chat-move.ts'
import type { Clock } from '../../core/clock.ts'
import { type Deferred, deferred } from '../../core/deferred.ts'
import type { Decision, Dispatch } from '../../core/dispatch.ts'
import type { ChannelId, IdSource } from '../../core/ids.ts'
import type { Logger } from '../../core/logger.ts'
import type { Store, StoreWriter } from '../../store/store.ts'
import { type MoveDeps, moveChat } from './move-chat.ts'

/** The chats that got a new id: few, and in memory. */
export interface ChatMoves {
  readonly all: readonly ChatMove[]
  /**
   * Resolves once the moves that are being carried out are on disk and known here; absent where there are none. A poll
   * brings what is said in the new chat together with the notice, and it would be decided as in an unknown place.
   */
  readonly underWay: Promise<void> | undefined
  /** Returns the id a chat had before; the configuration of that id applies to it. */
  formerChat(channel: string, chat: string): string | undefined
  /** Returns the present address of a place. */
  follow(address: Address): Address
  /**
   * Returns the dispatch at its present place: messages in an old chat, and schedules that name one, belong to the new
   * chat.
   */
  followed(dispatch: Dispatch): Dispatch
  /** Records and carries out a platform's notice of a move, in one commit, however often it comes. */
  accept(dispatch: Dispatch, decision: Decision, position?: (tx: StoreWriter) => Promise<void>): Promise<void>
  /** Carries out a move that a send reported. Never rejects: the platform's notice is still to come. */
  learned(from: Address, to: Address): Promise<void>
}

export interface ChatMovesDeps extends Pick<MoveDeps, 'rekey'> {
  readonly store: Store
  readonly clock: Clock
  readonly ids: Pick<IdSource, 'inbox'>
  readonly logger: Logger
  /** Called after the commit: caches by address or scope key must be read again. */
  moved(): Promise<void>
}

export async function loadChatMoves(deps: ChatMovesDeps): Promise<ChatMoves> {
  const { store, clock, ids, logger } = deps
  const all: ChatMove[] = []
  const former = new Map<string, string>()
  const note = (move: ChatMove): void => {
    all.push(move)
    former.set(`${move.channel}:${move.to}`, move.from)
  }
  for (const move of await store.read.chatMoves.all()) note(move)

  const carryOut = (tx: StoreWriter, move: ChatMove): Promise<boolean> =>
    moveChat(tx, move, { at: clock.now(), rekey: deps.rekey })

  let underWay: { moves: number; readonly over: Deferred } | undefined
  /** All who wait continue once no move is left, however these end, in the order in which they came. */
  function during(work: Promise<void>): Promise<void> {
    underWay ??= { moves: 0, over: deferred() }
    const now = underWay
    now.moves++
    void Promise.allSettled([work]).then(() => {
      if (--now.moves > 0) return
      underWay = undefined
      now.over.resolve()
    })
    return work
  }

  async function announce(move: ChatMove): Promise<void> {
    note(move)
    logger.warn('A group has a new id; change it in the configuration where it is named', { ...move })
    await deps.moved()
  }

  const record: ChatMoves['accept'] = async (dispatch, decision, position) => {
    const move = moveOf(dispatch)
    const moved = await store.write(async (tx) => {
      await position?.(tx)
      const row = { id: ids.inbox(), dispatch, decision, state: 'done', outcome: 'ignored: chat_moved' } as const
      return (await tx.inbox.add(row)) && move !== undefined && carryOut(tx, move)
    })
    if (moved && move) await announce(move)
  }

  const learned: ChatMoves['learned'] = async (from, to) => {
    const move = { channel: from.channel, from: from.chat, to: to.chat }
    try {
      if (await store.write((tx) => carryOut(tx, move))) await announce(move)
    } catch (err) {
      logger.warn('The new id of a group could not be recorded', { err, ...move })
    }
  }

  return {
    all,
    formerChat: (channel, chat) => (former.size === 0 ? undefined : former.get(`${channel}:${chat}`)),
    follow: (address) => all.reduce(movedAddress, address),
    followed: (dispatch) => (all.length === 0 ? dispatch : all.reduce(movedDispatch, dispatch)),
    get underWay() {
      return underWay?.over.promise
    },
    accept(dispatch, decision, position) {
      return during(record(dispatch, decision, position))
    },
    learned: (from, to) => during(learned(from, to)),
  }
}

function moveOf({ event }: Dispatch): ChatMove | undefined {
  if (event.kind !== 'migration' || event.to.chat === event.address.chat) return undefined
  const channel: ChannelId = event.address.channel
  return { channel, from: event.address.chat, to: event.to.chat }
}
