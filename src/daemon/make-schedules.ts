import { type Config, isPlaceOf } from '../config/config.ts'
import type { Address } from '../core/address.ts'
import { senderAuthor } from '../core/author.ts'
import type { ChatMove } from '../core/chat-move.ts'
import type { ChatSchedules, ScheduleAsker, ScheduleWish } from '../core/chat-schedules.ts'
import type { CommandCall } from '../core/command.ts'
import type { PersonId } from '../core/ids.ts'
import type { Logger } from '../core/logger.ts'
import { zoneOfPerson } from '../core/policy.ts'
import type { ConfiguredSchedule } from '../core/schedule.ts'
import type { TurnRef } from '../core/session-tools.ts'
import { formerNames } from '../routing/former-names.ts'
import { placeSession } from '../routing/place-session.ts'
import { askerIn, askerOfTurn } from '../schedule/asker-of-turn.ts'
import { createChatSchedules } from '../schedule/chat-schedules.ts'
import { createScheduleService, type ScheduleService, type ServiceDeps } from '../schedule/schedule-service.ts'
import type { MuteCommandDeps } from '../sessions/commands/mute.ts'
import { movedSchedule } from '../sessions/lookups/move-chat.ts'
import { identityOfAuthor } from '../sessions/people/author-identity.ts'
import { turnAuthority, turnAuthors } from '../sessions/turns/turn-authority.ts'
import { createKnownAddresses } from '../sessions/view/known-addresses.ts'
import type { Entrance } from './entrance.ts'
import type { Lookups } from './lookups.ts'
import type { CurrentRouting } from './reload.ts'
import { sharedChats } from './shared-chats.ts'

export interface SchedulesDeps extends Pick<ServiceDeps, 'store' | 'ids' | 'clock'> {
  readonly config: Config
  readonly logger: Logger
  readonly policies: CurrentRouting
  readonly lookups: Pick<Lookups, 'roleOf' | 'whoIs' | 'facts' | 'moves'>
  readonly entrance: Pick<Entrance, 'accept'>
}

export interface Schedules extends ScheduleService {
  /** Those that people make in chats. */
  readonly fromChats: ChatSchedules
  /** Returns the sender of a command as a maker of schedules; undefined for somebody nobody let in by name. */
  remindAsker(this: void, call: CommandCall): ScheduleAsker | undefined
  /** Returns the zone in which a person writes times; that of the machine where none is configured. */
  zoneOf(this: void, person: PersonId | undefined): string
  /** Splits the time from the text of a typed reminder. */
  readReminder(this: void, text: string, asker: ScheduleAsker): Promise<ScheduleWish | undefined>
  readonly readEnd: MuteCommandDeps['readEnd']
}

export function makeSchedules({ config, policies, lookups, entrance, ...parts }: SchedulesDeps): Schedules {
  const { store, ids, clock } = parts
  const { roleOf, whoIs } = lookups
  const logger = parts.logger.child({ subsystem: 'schedules' })
  const { channels } = policies.routing()
  const service = createScheduleService({
    ...{ store, ids, clock, accept: entrance.accept, roleOf, logger },
    agents: config.agents.map(({ id }) => id),
    isPlace: isPlaceOf(config),
    caseSensitive: channels.caseSensitive,
    follow: lookups.moves.follow,
    async joinedAt(address) {
      const routeTo = (address: Address) =>
        placeSession(policies.routing(), lookups.facts, { address, traceId: ids.trace(), receivedAt: clock.now() })
          .route
      const { topic, ...chat } = address
      const { scope, scopeKey } = routeTo(address)
      const isWithTopics = topic !== undefined && routeTo(chat).scopeKey === scopeKey
      return isWithTopics || !scope.dimensions.includes('chat') ? store.read.sessions.current(scopeKey) : undefined
    },
  })
  const authority = {
    read: store.read,
    channels,
    inGroups: 'here',
    ...sharedChats({ policies, lookups, ids, clock }),
  } as const
  const authorsOf = (turn: TurnRef) => turnAuthors(authority, turn)
  const readsAlone = async (turn: TurnRef, person: PersonId): Promise<boolean> => {
    const { readers } = await turnAuthority(authority, turn)
    if (readers === 'shared') return false
    const people = await Promise.all(readers.map((reader) => identityOfAuthor(lookups, reader)))
    return people.every((one) => one.person === person)
  }
  const known = createKnownAddresses(store.read)
  const isKnownAddress = ({ id, sessionId }: TurnRef, url: URL) => known.isKnown({ turnId: id, sessionId }, url)
  const zoneOf = (person: PersonId | undefined): string => zoneOfPerson(policies.policy, person)
  const fromChats = createChatSchedules({
    ...{ store, clock, logger, zoneOf, changed: service.changed },
    identityOf: (author) => identityOfAuthor(lookups, author),
    askerOf: (turn, callId) =>
      askerOfTurn({ read: store.read, clock, channels, whoIs, authorsOf, readsAlone, isKnownAddress }, turn, callId),
  })
  return {
    ...service,
    fromChats,
    zoneOf,
    remindAsker({ dispatch, decision: { route } }) {
      const asker = askerIn({ channels, whoIs }, dispatch)
      const author = senderAuthor(channels, dispatch.event.address.channel, dispatch.event.sender)
      return asker && { ...asker, agent: route.agent, authors: [author], at: dispatch.receivedAt }
    },
    async readReminder(text, { at, person }) {
      const { readTyped } = await import('../schedule/when/read-when.ts')
      const found = readTyped(text, { now: at, timezone: zoneOf(person) })
      return found && { text: found.text, task: false, timing: found.timing }
    },
    async readEnd(text, { at, person }) {
      const [{ readEnd }, { localTime }] = await Promise.all([
        import('../schedule/when/read-when.ts'),
        import('../schedule/when-words.ts'),
      ])
      const end = readEnd(text, { now: at, timezone: zoneOf(person) })
      return { at: end.at, words: localTime(end.at, end.timezone) }
    },
  }
}

/** Returns the configured schedules, with the present ids of the chats they name. */
export function currentSchedules(
  config: Config,
  moves: readonly ChatMove[],
  logger: Logger,
): readonly ConfiguredSchedule[] {
  for (const warning of formerNames(config, moves)) logger.warn('A setting is doubtful', { warning })
  return config.schedules.map((schedule) => ({
    ...schedule,
    definition: moves.reduce(movedSchedule, schedule.definition),
  }))
}
