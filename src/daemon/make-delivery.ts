import type { Accounts } from '../channels/accounts.ts'
import type { ChannelAdapter } from '../channels/adapter.ts'
import { type Config, isPlaceOf } from '../config/config.ts'
import { type Address, formatAddress } from '../core/address.ts'
import type { Audio } from '../core/audio.ts'
import type { CloseCards } from '../core/card.ts'
import type { Clock } from '../core/clock.ts'
import { type IdSource, notifierOf, type PersonId, type TraceId } from '../core/ids.ts'
import type { Logger } from '../core/logger.ts'
import type { Measures } from '../core/measures.ts'
import type { MediaStore } from '../core/media.ts'
import type { Delivery } from '../core/outbound.ts'
import { withTitle } from '../core/titles.ts'
import { createDelivery, type DeliveryService } from '../delivery/delivery.ts'
import type { Speaker, SpeakerVerdict } from '../delivery/plan-reply.ts'
import { DEFAULT_SETTINGS, type DeliverySettings } from '../delivery/settings.ts'
import { mutedAt } from '../routing/mute.ts'
import { placeSession } from '../routing/place-session.ts'
import { sendAllowed } from '../routing/send-policy.ts'
import type { PlanNotice, PostNotice } from '../sessions/people/post-notice.ts'
import { createNotify, type Notify } from '../sessions/service/notify.ts'
import { placeTitle } from '../sessions/service/place-title.ts'
import { type ChatOwners, isParted } from '../sessions/turns/parted-chat.ts'
import { recordPost } from '../sessions/turns/record-post.ts'
import { recordRetried, recordUndelivered, strandedNotice } from '../sessions/turns/record-undelivered.ts'
import type { Store, StoreWriter } from '../store/store.ts'
import type { DaemonEvents } from './daemon-events.ts'
import type { Lookups } from './lookups.ts'
import type { CurrentRouting } from './reload.ts'
import { textRedactor } from './text-redactor.ts'

export interface DeliveryWiringDeps {
  readonly config: Pick<Config, 'session'>
  readonly store: Store
  readonly ids: IdSource
  readonly clock: Clock
  /** Returns a number in [0, 1), for jitter. */
  random(this: void): number
  readonly logger: Logger
  readonly media: MediaStore
  readonly audio: Pick<Audio, 'speak'>
  readonly measures: Measures
  readonly accounts: Accounts
  readonly policies: CurrentRouting
  readonly lookups: Pick<Lookups, 'facts' | 'moves' | 'overrides' | 'whoIs'>
  readonly events: Pick<DaemonEvents, 'ownerNotice' | 'partMoved'>
  /** The times that differ from the defaults. */
  readonly timing: Partial<DeliverySettings>
  adapter(this: void, address: Address): ChannelAdapter | undefined
}

/** Connects the one exit with the facts about chats and sessions. */
export function makeDelivery(parts: DeliveryWiringDeps): DeliveryService {
  const { store, clock, random, ids, accounts, adapter, policies, lookups, timing } = parts
  const { answerParts = DEFAULT_SETTINGS.answerParts, answerAsFile } = parts.config.session
  const { channels } = policies.routing()
  const delivery: DeliveryService = createDelivery({
    ...{ store, ids, clock, random, adapter, media: parts.media },
    logger: parts.logger.child({ subsystem: 'delivery' }),
    epoch: store.epoch,
    settings: { answerParts, ...timing },
    format: accounts.format,
    commandMark: (channel) => channels.traits(channel).commandMark,
    files: (channel) => channels.traits(channel).files,
    ...(answerAsFile === undefined ? {} : { answerAsFile }),
    ...(parts.audio.speak ? { speak: parts.audio.speak } : {}),
    limits: accounts.limits,
    streams: accounts.streams,
    sendAllowed: (speaker) => judgeSpeaker(parts, speaker),
    follow: lookups.moves.follow,
    moved: (from, to) => void lookups.moves.learned(from, to),
    undelivered: (tx, row, ending) => recordUndelivered(tx, row, ending, clock.now()),
    retried: (tx, row) => recordRetried(tx, row, clock.now()),
    stranded: (tx, row) => notifyStranded(tx, row, parts, delivery),
    recorded({ address: { channel }, source }, state) {
      parts.measures.partMoved(channel, state, { source, now: clock.now() })
      parts.events.partMoved.emit(source)
    },
    unreadable: (to) => void notifyUnreadable(to, parts),
    announced: (tx, row) => {
      const { channels } = policies.routing()
      const place = placed(parts, row.address, row.traceId)
      return recordPost(tx, place, row, { ids, channels, overrides: lookups.overrides })
    },
  })
  return delivery
}

/**
 * Whoever waits for an answer in a topic that takes nothing any more reads so in private, and the owners do: nobody
 * else can mend it, and nobody may wait for what comes by itself.
 */
async function notifyStranded(
  tx: StoreWriter,
  row: Delivery,
  { ids, events }: Pick<DeliveryWiringDeps, 'ids' | 'events'>,
  delivery: DeliveryService,
): Promise<void> {
  const { address } = row
  const title = `\`${(await placeTitle(tx, address, row.sessionId)).title ?? formatAddress(address)}\``
  const notice = await strandedNotice(tx, row, { id: ids.notice(), title })
  const planned = notice && (await delivery.plan(tx, notice))
  const { channel, account } = address
  const asker = notice?.only && { channel, account, chatType: 'direct' as const, chat: notice.only.id }
  const text = `I cannot write in ${title} any more: that topic or thread is closed or gone. \`parley status\` names what was not sent.`
  tx.afterCommit(() => {
    if (planned) delivery.release(planned)
    const owners = { about: `stranded:${formatAddress(address)}`, text, ...(asker ? { saidIn: asker } : {}) }
    events.ownerNotice.emit({ where: address, notice: owners })
  })
}

/** Never rejects: where no title can be read either, the notice names the address alone. */
async function notifyUnreadable(to: Address, { store, events }: DeliveryWiringDeps): Promise<void> {
  const { title } = await placeTitle(store.read, to).catch(() => ({ title: undefined }))
  const text = `A stored message for ${withTitle(to, title)} cannot be read any more: it is not sent. My log names it.`
  events.ownerNotice.emit({ where: to, notice: { about: `unreadable:${formatAddress(to)}`, text } })
}

/** Returns the function that sends a notice of the daemon after the commit in which `when` agreed. */
export function makeSay(store: Store, delivery: DeliveryService): PostNotice {
  return async (message, when) => {
    const planned = await store.write(async (tx) => ((await when(tx)) ? delivery.plan(tx, message) : undefined))
    if (planned) delivery.release(planned)
  }
}

type NotifyWiring = Pick<DeliveryWiringDeps, 'store' | 'clock' | 'ids' | 'media' | 'policies' | 'events'>

/** Returns the service that says texts of scripts, through delivery like all other texts. */
export function makeNotify(
  { policies, events, config, ...parts }: NotifyWiring & { readonly config: Config },
  { plan, release }: Pick<DeliveryService, 'plan' | 'release'>,
): Notify {
  const { channels } = policies.routing()
  const rules = { channels, isPlace: isPlaceOf(config), redact: textRedactor(config) }
  return createNotify({ ...parts, ...rules, plan, release, moved: events.partMoved.on })
}

/** Returns the function that plans a notice of the daemon in a commit that is made anyway. */
export function planWith(delivery: Pick<DeliveryService, 'plan' | 'release'>): PlanNotice {
  return async (tx, message) => {
    // A message that is answered once more can part again: the line about it is there, and its turn must end.
    if ((await tx.outbox.ofSource(message.source)).length > 0) return
    const planned = await delivery.plan(tx, message)
    tx.afterCommit(() => delivery.release(planned))
  }
}

const PARTED: SpeakerVerdict = {
  allowed: false,
  because: 'the conversation is not that of its reader any more',
  parted: true,
}

/** Returns the facts by which `isParted` decides, as they are now. */
export function chatOwners({ policies, lookups }: Pick<SpeakerDeps, 'policies'> & OwnerLookups): ChatOwners {
  return { whoIs: lookups.whoIs, mainIsShared: () => policies.routing().sessions.scope === 'global' }
}

interface OwnerLookups {
  readonly lookups: Pick<Lookups, 'whoIs'>
}

/** A message that is being sent is closed after a while; one of which nobody can say that, at the next start. */
const CLOSE_AGAIN = { ms: 2_000, times: 5 }

export function makeCloseCards(
  { store, clock, logger }: Pick<DeliveryWiringDeps, 'store' | 'clock' | 'logger'>,
  delivery: DeliveryService,
): CloseCards {
  async function close(subject: string, line: string, times: number): Promise<void> {
    const { planned, later } = await store.write(async (tx) => {
      const sources = await tx.cards.of(subject)
      const closed = await Promise.all(sources.map((source) => delivery.close(tx, { source, line })))
      for (const [at, source] of sources.entries()) if (closed[at] !== 'later') await tx.cards.remove(subject, source)
      return { planned: closed.filter((one) => typeof one === 'object'), later: closed.includes('later') }
    })
    for (const one of planned) delivery.release(one)
    if (later && times > 1) clock.after(CLOSE_AGAIN.ms, () => void closeSafely(subject, line, times - 1))
  }
  function closeSafely(subject: string, line: string, times: number): Promise<void> {
    return close(subject, line, times).catch((err: unknown) =>
      logger.warn('A card could not be closed', { err, subject }),
    )
  }
  return (subject, line) => closeSafely(subject, line, CLOSE_AGAIN.times)
}

type SpeakerDeps = Pick<DeliveryWiringDeps, 'lookups' | 'policies' | 'clock' | 'ids'>

/**
 * Decides whether a session may say something at an address now: mutes, `/send off` and the send policy. `person` is
 * who asked for it, where the policy has rules for people.
 */
export function judgeSpeaker(
  parts: SpeakerDeps,
  { session: spoken, person, reader, source, ...said }: Speaker & { readonly person?: PersonId | undefined },
): SpeakerVerdict {
  // A turn that began before its chat got a new id has the old one.
  const address = parts.lookups.moves.follow(said.address)
  if (isParted(spoken, reader, chatOwners(parts))) return PARTED
  const isScript = source !== undefined && notifierOf(source) !== undefined
  const session = isScript ? placed(parts, address, parts.ids.trace()).route : spoken
  if (!session) return { allowed: true, because: 'it speaks for no session' }
  const { facts } = parts.lookups
  return (
    mutedAt(facts, address, parts.clock.now()) ??
    silencedAt(parts, address) ??
    sendAllowed(parts.policies.routing(), facts, { address, person, ...session })
  )
}

/** Returns the refusal if `/send off` was given in the chat: it holds for every speaker there, a schedule too (T31). */
function silencedAt(parts: SpeakerDeps, address: Address): SpeakerVerdict | undefined {
  const { overrides } = parts.lookups
  if (!overrides.silences) return undefined
  const { route } = placed(parts, address, parts.ids.trace())
  if (overrides.send(route.scopeKey) !== 'deny') return undefined
  return { allowed: false, because: "the override of the chat's session: deny" }
}

function placed(
  { policies, lookups, clock }: SpeakerDeps,
  address: Address,
  traceId: TraceId,
): ReturnType<typeof placeSession> {
  return placeSession(policies.routing(), lookups.facts, { address, traceId, receivedAt: clock.now() })
}
