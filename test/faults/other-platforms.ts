import { type DiscordServer, startDiscordServer } from '../../src/rehearsal/discord/server.ts'
import type { Fault } from '../../src/rehearsal/faults.ts'
import type { WaitOptions } from '../../src/rehearsal/ledger.ts'
import { type SlackServer, startSlackServer } from '../../src/rehearsal/slack/server.ts'
import { START_WITHIN_MS } from './daemon-child.ts'
import type { BotMessage } from './delivery-invariants.ts'
import type { HeardMessage } from './inbound-invariants.ts'
import type { FailpointSpec } from './kill-switch.ts'
import type { OtherPlatform, Scene } from './scene.ts'

/** One conversation of the owner with the bot on a platform beside Telegram. */
export interface OtherPlace extends OtherPlatform {
  /** Where a schedule can deliver to. */
  readonly address: string
  /** A text this long fills a message of its own. */
  readonly fullMessage: number
  /** With these files, each by its name. */
  say(text: string, files?: Readonly<Record<string, Uint8Array>>): void
  /** Waits for a message of the bot that contains `text`. */
  sent(text: string): Promise<unknown>
  /** Texts of the bot's messages as they stand, oldest first. */
  texts(): string[]
  /** The next send takes effect and stays without an answer. */
  holdSend(): Fault
  /** Where the ledger stands now. */
  mark(): number
  /** Waits until the daemon hears this platform. */
  listening(options?: WaitOptions): Promise<unknown>
  /** Sends that found the first one again: calls answered from a key, or look-ups of what is there. */
  found(): number
  /** How often the daemon has connected. */
  connections(): number
  close(): Promise<void>
}

export interface PlaceOptions {
  /** Show answers while they are written. Default: no. */
  readonly streaming?: boolean
  /** Slack: without the scopes of history, so that mentions alone are heard and nothing can be looked up. Default: no. */
  readonly blind?: boolean
}

const FAST = { perSecond: 1000, perChatPerSecond: 1000, perGroupPerMinute: 60_000 }
const HELD = { kind: 'hold', when: 'after' } as const
/** Without the platform's pauses of minutes: a case kills more often than a platform asks. */
const PATIENT = { ackMs: 3_000, retryAfterMs: Array<number>(50).fill(0) }

/** Starts the daemon and waits until it hears all of these too. With `armedBy`, `point` counts while that file exists. */
export async function startAll(
  { daemon }: Scene,
  places: readonly OtherPlace[],
  point: FailpointSpec | '' = '',
  armedBy = '',
): Promise<void> {
  const listening = places.map((place) => place.listening({ after: place.mark(), timeoutMs: START_WITHIN_MS }))
  await Promise.all([daemon.start(point, armedBy), ...listening])
}

const ADA = '222'

/** Ada in a channel of her guild, or in a direct chat. */
export async function discordPlace({ streaming = false }: PlaceOptions = {}, where: 'channel' | 'direct' = 'channel') {
  const server = await startDiscordServer()
  const { world, token, apiRoot } = server
  world.addUser({ id: ADA, username: 'ada', displayName: 'Ada' })
  const guild = world.addGuild({ name: 'Workshop' })
  const channel = where === 'channel' ? world.addChannel({ guild, name: 'engines' }).id : undefined
  const account = { token, apiRoot, streaming, limits: FAST }
  return {
    ...inDiscord(server, channel),
    accounts: { discord: account },
    address: `discord:channel:${channel}`,
    fullMessage: 1_900,
  }
}

/** `channel`: undefined before Ada has opened her direct chat. */
function inDiscord({ world, ledger, faults, close }: DiscordServer, channel: string | undefined) {
  let place = channel
  /** As addresses have it: a direct chat is known by its person. */
  const chat = channel ?? ADA
  const messages = () => (place === undefined ? [] : world.messages(place, { bot: true }).map(({ message }) => message))
  const heard = (): HeardMessage[] =>
    ledger.entries.flatMap((entry) =>
      entry.kind === 'message' && entry.change === 'sent' && !entry.byBot ? [{ chat, messageId: entry.messageId }] : [],
    )
  return {
    say(text, files = {}) {
      const attachments = Object.entries(files).map(([name, bytes]) => world.attach({ bytes, name }))
      const where = place === undefined ? {} : { channel: place }
      place = world.say({ from: ADA, text, ...where, ...(attachments.length > 0 && { attachments }) }).channel_id
    },
    sent: (text) => ledger.nextFromBot('sent', { where: (entry) => entry.text.includes(text) }),
    texts: () => messages().map(({ content }) => content),
    botMessages: () => messages().map(({ id, content }) => asTold(chat, id, content)),
    heard,
    holdSend: () => faults.add({ method: 'createMessage', action: HELD }),
    mark: () => ledger.mark(),
    listening: (options) => ledger.listening(options),
    found: () => ledger.calls('getMessages').length,
    connections: () => ledger.count((entry) => entry.kind === 'gateway' && entry.event === 'connected'),
    close,
  } satisfies Partial<OtherPlace>
}

/**
 * Ada in her direct chat or, since what is answered in a channel begins a thread, in a thread there. A schedule delivers
 * to the channel.
 */
export async function slackPlace(
  { streaming = false, blind = false }: PlaceOptions = {},
  where: 'direct' | 'thread' = 'direct',
) {
  const app = blind ? { scopes: ['app_mentions:read', 'chat:write'], subscriptions: ['app_mention'] } : {}
  const server = await startSlackServer({ redelivery: PATIENT, app })
  const { world, apiRoot } = server
  world.addUser({ id: 'U333', name: 'ada', displayName: 'Ada' })
  const { id: channel } = world.addChannel({ name: 'workshop', members: ['U333'] })
  const { botToken, appToken } = server.app
  const account = { botToken, appToken, apiRoot, streaming, limits: FAST }
  return {
    ...inSlack(server, channel, where),
    accounts: { slack: account },
    blind,
    address: `slack:channel:${channel}`,
    fullMessage: 3_900,
  }
}

function inSlack({ world, ledger, faults, close }: SlackServer, channel: string, where: 'direct' | 'thread') {
  const direct = world.direct('U333').id
  const messages = () =>
    [direct, channel].flatMap((chat) =>
      world.messages(chat, { by: 'bot' }).map(({ message }) => ({ ...message, chat })),
    )
  /** What was acknowledged: the rest the platform repeats or has given up. */
  const heard = (): HeardMessage[] =>
    ledger.entries.flatMap((entry) =>
      entry.kind === 'message' && entry.change === 'sent' && !entry.byBot && ledger.isConfirmed(entry.ts)
        ? [{ chat: entry.channel, messageId: entry.ts }]
        : [],
    )
  let thread: ReturnType<typeof world.say> | undefined
  return {
    say(text, given = {}) {
      const files = Object.entries(given).map(([name, bytes]) => world.attach({ bytes, name }))
      const more = files.length > 0 ? { extra: { subtype: 'file_share', files } } : {}
      if (where === 'direct') world.say({ from: 'U333', text, ...more })
      else if (thread) world.say({ from: 'U333', channel, thread, text: `<@U0BOT> ${text}`, ...more })
      else thread = world.say({ from: 'U333', channel, text: `<@U0BOT> ${text}`, ...more })
    },
    sent: (text) => ledger.nextFromBot('sent', { where: (entry) => entry.text.includes(text) }),
    texts: () => messages().map(({ text }) => text ?? ''),
    botMessages: () => messages().map(({ chat, ts, text }) => asTold(chat, ts, text ?? '')),
    heard,
    holdSend: () => faults.add({ method: 'chat.postMessage', action: HELD }),
    mark: () => ledger.mark(),
    listening: (options) => ledger.nextSocket(options),
    /** Waits until the client has asked whether the connection is alive. */
    pinged: () => ledger.next((entry) => entry.kind === 'socket' && entry.change === 'pinged'),
    found: () => ledger.calls(where === 'thread' ? 'conversations.replies' : 'conversations.history').length,
    connections: () => ledger.count((entry) => entry.kind === 'socket' && entry.change === 'ready'),
    close,
  } satisfies Partial<OtherPlace> & { pinged(): Promise<unknown> }
}

/** These platforms keep code with its backticks; the rows tell what is read. */
function asTold(chat: string, id: string, text: string): BotMessage {
  return { chat, id, texts: [text.replace(/(`+)([^`\n]+)\1/g, '$2')], deleted: false }
}
