import type { AdapterServices, ChannelSink } from '../../../src/channels/adapter.ts'
import { ParleyError, toError } from '../../../src/core/errors.ts'
import type { AccountId } from '../../../src/core/ids.ts'
import type { InboundEvent } from '../../../src/core/message.ts'
import { presentTitles } from '../../../src/core/titles.ts'
import type { AccountHealth } from '../../shared/account-health.ts'
import { type Fields, isFields, present } from '../../shared/fields.ts'
import { letGo } from '../../shared/guard.ts'
import { NOTHING_ANY_MORE } from '../../shared/press.ts'
import { asAnswered } from '../../shared/read-back.ts'
import { type InboundReading, wordOf } from '../../shared/reading.ts'
import { toChatType } from '../address.ts'
import type { SlackClient } from '../connection/client.ts'
import type { TokenWatch } from '../connection/token-watch.ts'
import type { CommandNames } from './command-names.ts'
import { Directory, type SlackPerson } from './directory.ts'
import type { Names } from './mrkdwn-text.ts'
import type { ChatPositions } from './positions.ts'
import { innerEvent, readEventBody } from './read-event.ts'
import { isOwn, namedIn, sharedAuthor, teamIn } from './read-message.ts'
import { isOfSlackbot, sharesOf } from './read-parts.ts'
import { FOREIGN_BUTTON, isPress, placeOfPress, readPressed } from './read-press.ts'
import { channelNameOf, isSlashCommand, readSlashCommand, type SlashContext } from './read-slash-command.ts'
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
/** People, and places, whose names are looked up for a message. */
const MOST_NAMES = 6

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

  /** Returns what a message of a thread says, without storing it; undefined for one that is none of ours to read. */
  async read(body: Fields): Promise<InboundEvent | undefined> {
    const reading = await this.#readEvent(body, { readsOwn: true })
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

  #reading(body: Fields): Promise<InboundReading> {
    if (isSlashCommand(body)) return this.#readSlash(body)
    return isPress(body) ? this.#readPress(body) : this.#readEvent(body)
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

  async #readEvent(body: Fields, how: Pick<InboundContext, 'readsOwn'> = {}): Promise<InboundReading> {
    const context = this.#contextOf(body)
    this.#turn = context
    this.#learnRename(innerEvent(body))
    return readEventBody(body, { ...(await context), ...how })
  }

  #learnRename(event: Fields | undefined): void {
    const { type, subtype, channel, name } = event ?? {}
    if ((type === 'channel_rename' || type === 'group_rename') && isFields(channel))
      this.#directory.learnName(channel.id, channel.name)
    if (subtype === 'channel_name' || subtype === 'group_name') this.#directory.learnName(channel, name)
  }

  /** Waits behind nothing: it says nearly all there is to know, and the platform waits three seconds. */
  async #readSlash(body: Fields): Promise<InboundReading> {
    const name = channelNameOf(body)
    if (name !== undefined) this.#directory.learnName(body.channel_id, name)
    return readSlashCommand(body, {
      ...(await this.#slashContext(body.user_id, body.team_id)),
      commands: this.#commands.all,
    })
  }

  async #readPress(body: Fields): Promise<InboundReading> {
    const { id, team_id } = isFields(body.user) ? body.user : {}
    return readPressed(body, await this.#slashContext(id, team_id))
  }

  /** In an organisation somebody of another workspace has to be asked about. */
  async #slashContext(user: unknown, team: unknown): Promise<Omit<SlashContext, 'commands'>> {
    const { account, bot, services } = this.#deps
    const receivedAt = services.clock.now()
    const isElsewhere = bot.enterprise !== undefined && typeof team === 'string' && team !== bot.team
    const person = isElsewhere && isId(user) ? await this.#directory.personOf(user) : undefined
    return { account, bot, receivedAt, senderIsOfOurs: isElsewhere && isOfOurs(person, team, bot) }
  }

  /** Never rejects; ends after those before it. */
  async #contextOf(body: Fields): Promise<InboundContext> {
    const before = this.#turn
    const { account, bot } = this.#deps
    const event = innerEvent(body) ?? {}
    // The author of an edit or of a deleted message stands in the message inside.
    const said = [event.message, event.previous_message].find(isFields) ?? event
    const shared = sharedAuthor(said)
    const [chatType, internal, sender, sharedBy, title, names] = await Promise.all([
      this.#chatTypeOf(event),
      this.#isInternal(body, event, said),
      this.#senderOf(said),
      shared === undefined ? undefined : this.#directory.personOf(shared),
      typeof event.channel === 'string' ? this.#directory.titleOf(event.channel) : undefined,
      // A mistake of ours is met again by the reader, which counts it.
      this.#namesIn(said).catch(() => undefined),
    ])
    await before
    return {
      ...{ account, bot, commands: this.#commands.all, chatType, internal },
      ...present('names', names),
      ...presentTitles({ chat: title, topic: undefined, topicBegan: undefined }),
      ...present('senderName', sender?.name),
      senderIsPerson: sender?.isPerson === true,
      senderIsOfOurs: isOfOurs(sender, teamIn(said), bot),
      ...present('authorTeam', isOfOurs(sharedBy, sharedBy?.team, bot) ? bot.team : sharedBy?.team),
    }
  }

  /** Returns whoever has written a message, who is asked about unless it is the bot or an app without a user. */
  async #senderOf(said: Fields): Promise<SlackPerson | undefined> {
    const isAsked = typeof said.user === 'string' && !isOwn(said, this.#deps) && !isOfSlackbot(said)
    return isAsked && said.subtype !== 'bot_message' ? this.#directory.personOf(String(said.user)) : undefined
  }

  /** Looks up a few of the names of whom and what a message names; the others are shown by their ids. */
  async #namesIn(said: Fields): Promise<Names> {
    const unknown = namedIn(said, this.#deps)
    const look = async <Value>(ids: ReadonlySet<string>, ask: (id: string) => Promise<Value | undefined>) => {
      const few = [...ids].filter((id) => isId(id)).slice(0, MOST_NAMES)
      const found = await Promise.all(few.map(async (id) => [id, await ask(id)] as const))
      return new Map(found.flatMap(([id, value]) => (value === undefined ? [] : [[id, value] as const])))
    }
    const [people, places] = await Promise.all([
      look(unknown.people, (id) => this.#directory.personOf(id)),
      look(unknown.places, (id) => this.#directory.titleOf(id)),
    ])
    return { people, places }
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
 * Says whether somebody is of the organisation of several workspaces that ours belongs to, where a person has one id in
 * all of them. `team` is the workspace that the message names: it has to be one of theirs.
 */
function isOfOurs(
  { enterprise, team: home }: Pick<SlackPerson, 'enterprise' | 'team'> = {},
  team: string | undefined,
  bot: OwnBot,
): boolean {
  if (enterprise === undefined || team === undefined || enterprise.id !== bot.enterprise) return false
  return [...enterprise.teams, enterprise.id, home].includes(team)
}

function isId(value: unknown): value is string {
  return typeof value === 'string' && /^[A-Z][A-Z0-9]{1,30}$/.test(value)
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
