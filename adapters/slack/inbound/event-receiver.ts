import type { AdapterServices, ChannelSink } from '../../../src/channels/adapter.ts'
import { ParleyError, toError } from '../../../src/core/errors.ts'
import type { AccountId } from '../../../src/core/ids.ts'
import type { InboundEvent } from '../../../src/core/message.ts'
import { presentTitles } from '../../../src/core/titles.ts'
import type { AccountHealth } from '../../shared/account-health.ts'
import { type Fields, isFields } from '../../shared/fields.ts'
import { letGo } from '../../shared/guard.ts'
import { NOTHING_ANY_MORE } from '../../shared/press.ts'
import { asAnswered } from '../../shared/read-back.ts'
import { type InboundReading, wordOf } from '../../shared/reading.ts'
import { toChatType } from '../address.ts'
import type { SlackClient } from '../connection/client.ts'
import type { TokenWatch } from '../connection/token-watch.ts'
import type { CommandNames } from './command-names.ts'
import { Directory } from './directory.ts'
import type { ChatPositions } from './positions.ts'
import { innerEvent, readEventBody } from './read-event.ts'
import { sharedAuthor, sharesOf, teamIn } from './read-message.ts'
import { FOREIGN_BUTTON, isPress, placeOfPress, readPressed } from './read-press.ts'
import { channelNameOf, isSlashCommand, readSlashCommand } from './read-slash-command.ts'
import type { InboundContext, OwnBot } from './reading.ts'

interface EventReceiverDeps {
  readonly account: AccountId
  readonly bot: OwnBot
  readonly services: AdapterServices
  readonly health: AccountHealth
  readonly client: SlackClient
  readonly sink: ChannelSink
  readonly abort: AbortController
}

interface Books {
  readonly tokens: TokenWatch
  readonly commands: CommandNames
  readonly positions: ChatPositions
}

/** Events after which the bot token may be good for nothing. */
const TOKEN_EVENTS: ReadonlySet<unknown> = new Set(['tokens_revoked', 'app_uninstalled'])

const REFUSE_WITHIN_MS = 10_000

/** `answered`: the event was read back, and so was an answer of ours to it. */
export type Accept = (body: Fields, known?: { readonly answered: boolean }) => Promise<void>

/** Receives the events of both receivers: looks up missing data, then reads and stores them. */
export class EventReceiver {
  readonly #deps: EventReceiverDeps
  readonly #tokens: TokenWatch
  readonly #commands: CommandNames
  readonly #positions: ChatPositions
  readonly #directory: Directory
  /** Events are stored in the order they came, whatever each had to look up. */
  #turn: Promise<unknown> = Promise.resolve()

  constructor(deps: EventReceiverDeps, { tokens, commands, positions }: Books) {
    const { client, services, abort } = deps
    this.#deps = deps
    this.#tokens = tokens
    this.#commands = commands
    this.#positions = positions
    this.#directory = new Directory({ client, clock: services.clock, signal: abort.signal })
  }

  /** Resolves after the commit; rejects when it could not be stored. */
  async accept(...[body, known]: Parameters<Accept>): Promise<void> {
    const { abort, health } = this.#deps
    const read = await this.#eventIn(body)
    const event = known?.answered === true && read !== undefined ? asAnswered(read) : read
    if (abort.signal.aborted) throw new ParleyError('aborted', 'the channel was stopped')
    if (event === undefined) return
    try {
      await this.#store(event, readableByOthers(body))
      health.mended('store')
    } catch (error) {
      const detail = `messages cannot be stored, Slack repeats them for about 5 minutes: ${toError(error).message}`
      if (!abort.signal.aborted) health.trouble('store', detail)
      throw error
    }
  }

  /** Returns what an event says, without storing it; undefined for one that is none of ours to read. */
  async read(body: Fields): Promise<InboundEvent | undefined> {
    const reading = await this.#readEvent(body)
    return reading.kind === 'event' ? reading.event : undefined
  }

  /**
   * Never rejects. Undefined: it was counted, be it that we cannot read it; it would make us throw the next time too.
   */
  async #eventIn(body: Fields): Promise<InboundEvent | undefined> {
    const { sink, abort, account, services } = this.#deps
    try {
      const reading = await this.#reading(body)
      if (reading.kind === 'event') return reading.event
      if (abort.signal.aborted) return undefined
      if (TOKEN_EVENTS.has(innerEvent(body)?.type)) this.#tokens.check()
      sink.unknown(reading.why, readableByOthers(body))
      if (reading.why === FOREIGN_BUTTON) this.#refuse(body)
    } catch (error) {
      letGo({ sink, logger: services.logger, account }, wordOf(innerEvent(body)?.type), error)
    }
    return undefined
  }

  #reading(body: Fields): InboundReading | Promise<InboundReading> {
    const { account, bot, services } = this.#deps
    if (isSlashCommand(body)) return this.#readSlash(body)
    return isPress(body) ? readPressed(body, { account, bot, receivedAt: services.clock.now() }) : this.#readEvent(body)
  }

  /** Says to whoever pressed a button that is none of ours that nothing comes of it. */
  #refuse(body: Fields): void {
    const { client, abort } = this.#deps
    const user = isFields(body.user) ? body.user.id : undefined
    const args = { ...placeOfPress(body), user, text: NOTHING_ANY_MORE }
    void client.call('chat.postEphemeral', args, { signal: abort.signal, deadlineMs: REFUSE_WITHIN_MS })
  }

  /** A message is stored with the position of its conversation. */
  async #store(event: InboundEvent, shown: unknown): Promise<void> {
    const { sink } = this.#deps
    const written = event.kind === 'message' || (event.kind === 'command' && event.answerBy === undefined)
    if (!written) return sink.accept(event, undefined, shown)
    const { chat, chatType } = event.address
    this.#positions.received(chat)
    this.#positions.meet([{ id: chat, chatType }], () => false)
    // Handed over before anything is waited for: events are stored in the order they came.
    await sink.accept(event, this.#positions.cursorFor(chat, event.messageId), shown)
    this.#positions.moved(chat, event.messageId)
    await this.#positions.write()
  }

  async #readEvent(body: Fields): Promise<InboundReading> {
    const context = this.#contextOf(body)
    this.#turn = context
    this.#learnRename(innerEvent(body))
    return readEventBody(body, await context)
  }

  #learnRename(event: Fields | undefined): void {
    const { type, channel } = event ?? {}
    if ((type === 'channel_rename' || type === 'group_rename') && isFields(channel))
      this.#directory.learnName(channel.id, channel.name)
  }

  /** Waits behind nothing: it says all there is to know, and the platform waits three seconds. */
  #readSlash(body: Fields): InboundReading {
    const { account, bot, services } = this.#deps
    const name = channelNameOf(body)
    if (name !== undefined) this.#directory.learnName(body.channel_id, name)
    return readSlashCommand(body, { account, bot, commands: this.#commands.all, receivedAt: services.clock.now() })
  }

  /** Never rejects; ends after those before it. */
  async #contextOf(body: Fields): Promise<InboundContext> {
    const before = this.#turn
    const { account, bot } = this.#deps
    const event = innerEvent(body) ?? {}
    // An edit's author stands in the message inside.
    const said = isFields(event.message) ? event.message : event
    const author = typeof said.user === 'string' ? said.user : undefined
    const ofPerson = author !== undefined && author !== bot.userId && said.bot_id === undefined
    const shared = sharedAuthor(said)
    const [chatType, internal, sender, sharedBy] = await Promise.all([
      this.#chatTypeOf(event),
      this.#isInternal(body, event, said),
      ofPerson ? this.#directory.personOf(author) : undefined,
      shared === undefined ? undefined : this.#directory.personOf(shared),
    ])
    await before
    const chatName = this.#directory.nameOf(event.channel)
    return {
      ...{ account, bot, commands: this.#commands.all, chatType },
      ...presentTitles({ chat: chatName, topic: undefined, topicBegan: undefined }),
      ...(sender?.name === undefined ? {} : { senderName: sender.name }),
      internal,
      ...(sharedBy?.team === undefined ? {} : { authorTeam: sharedBy.team }),
    }
  }

  /** A message that was read back does not say it: the platform is asked, if the message names no workspace. */
  async #isInternal({ is_ext_shared_channel: external }: Fields, { channel }: Fields, said: Fields): Promise<boolean> {
    if (typeof external === 'boolean') {
      if (typeof channel === 'string') this.#directory.learnInternal(channel, !external)
      return !external
    }
    return typeof channel === 'string' && teamIn(said) === undefined && this.#directory.isInternal(channel)
  }

  async #chatTypeOf({ channel, channel_type: given }: Fields): Promise<InboundContext['chatType']> {
    const known = toChatType(given)
    if (typeof channel !== 'string') return known ?? 'channel'
    if (known !== undefined) this.#directory.learnChat(channel, known)
    return known ?? this.#directory.chatTypeOf(channel)
  }
}

/**
 * Returns what others could read of an event: all of it in a place with several people in it, in a direct chat the
 * messages that are shared there.
 */
function readableByOthers(body: Fields): unknown {
  const event = innerEvent(body)
  if (typeof event?.channel !== 'string') return undefined
  if (toChatType(event.channel_type) !== 'direct' && !event.channel.startsWith('D')) return event
  const shares = sharesOf(isFields(event.message) ? event.message : event)
  return shares.length === 0 ? undefined : shares
}
