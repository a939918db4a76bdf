import type { Config } from '../config/config.ts'
import type { ChatMove } from '../core/chat-move.ts'
import type { Logger } from '../core/logger.ts'
import type { ConfiguredSchedule } from '../core/schedule.ts'
import { formerNames } from '../routing/former-names.ts'
import { createScheduleService, type ScheduleService, type ServiceDeps } from '../schedule/schedule-service.ts'
import { movedSchedule } from '../sessions/lookups/move-chat.ts'
import type { Entrance } from './entrance.ts'
import type { Lookups } from './lookups.ts'
import type { CurrentRouting } from './reload.ts'

export interface SchedulesDeps extends Pick<ServiceDeps, 'store' | 'ids' | 'clock'> {
  readonly config: Config
  readonly logger: Logger
  readonly policies: CurrentRouting
  readonly lookups: Pick<Lookups, 'roleOf'>
  readonly entrance: Pick<Entrance, 'accept'>
}

export function makeSchedules({
  config,
  logger,
  policies,
  lookups,
  entrance,
  ...parts
}: SchedulesDeps): ScheduleService {
  return createScheduleService({
    ...{ store: parts.store, ids: parts.ids, clock: parts.clock, accept: entrance.accept, roleOf: lookups.roleOf },
    logger: logger.child({ subsystem: 'schedules' }),
    agents: config.agents.map(({ id }) => id),
    caseSensitive: policies.routing().channels.caseSensitive,
  })
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
