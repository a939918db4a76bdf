import { readdirSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { Accounts } from '../channels/accounts.ts'
import type { Config } from '../config/config.ts'
import type { Clock } from '../core/clock.ts'
import type { PersonId } from '../core/ids.ts'
import type { Logger } from '../core/logger.ts'
import type { MessageLink } from '../core/message-link.ts'
import type { ForgettingOperator, RetentionLimit } from '../core/operate-forgetting.ts'
import type { DeliveryService } from '../delivery/delivery.ts'
import type { OwnMediaStore } from '../media/media-store.ts'
import { compileAgeLimits } from '../routing/age-limits.ts'
import { letGo } from '../schedule/let-go.ts'
import type { ScheduleService } from '../schedule/schedule-service.ts'
import { findMessages } from '../sessions/commands/find-messages.ts'
import { createForgetting, type ForgettingDeps, type ForgettingService } from '../sessions/forgetting/forgetting.ts'
import { operateForgetting } from '../sessions/forgetting/operate-forgetting.ts'
import { createRetention } from '../sessions/forgetting/retention.ts'
import { personIds } from '../sessions/people/person-ids.ts'
import { LIVE_ENDS } from '../store/engines/sqlite-files.ts'
import type { Store } from '../store/store.ts'
import type { Lookups } from './lookups.ts'
import type { People } from './people.ts'
import type { CurrentRouting } from './reload.ts'
import type { Stages } from './stages.ts'

export interface MakeForgettingDeps {
  readonly config: Config
  readonly store: Store
  readonly clock: Clock
  readonly logger: Logger
  readonly policies: CurrentRouting
  readonly lookups: Pick<Lookups, 'whoIs' | 'moves' | 'idsOf'>
  readonly media: OwnMediaStore
  readonly delivery: Pick<DeliveryService, 'takeBack' | 'nextStep'>
  readonly schedules: Pick<ScheduleService, 'changed'>
  readonly stages: Pick<Stages, 'running' | 'dropView'>
  /** Returns the time to age by. */
  ageingTime(this: void): number
  readonly accounts: Pick<Accounts, 'all'>
  readonly notifyOwners: People['notifyOwners']
}

export interface ForgettingParts {
  readonly forgetting: ForgettingService
  /** Applies the age limits of conversations. */
  retain(this: void): Promise<void>
  /** Returns these limits and since when each removes. */
  ageLimits(this: void): Promise<readonly RetentionLimit[]>
  /** Returns all ids of a person. */
  idsOf(this: void, person: PersonId): Promise<readonly string[]>
  operate(this: void, readLink: (text: string) => MessageLink | null): ForgettingOperator
}

/** Connects forgetting with the stages that have what is forgotten in hand. */
export function makeForgetting({
  config,
  store,
  clock,
  policies,
  lookups,
  media,
  delivery,
  ...parts
}: MakeForgettingDeps): ForgettingParts {
  const { schedules, stages } = parts
  const { channels } = policies.routing()
  const people = {
    ...{ channels, whoIs: lookups.whoIs },
    ...lookups.idsOf,
  }
  const ports = {
    ...{ store, clock, dropView: stages.dropView },
    logger: parts.logger.child({ subsystem: 'forgetting' }),
    async dropSchedule(tx, id) {
      await tx.schedules.remove(id)
      await letGo(tx, id, { outcome: 'forgotten', at: clock.now() })
    },
    forgetFiles: (ids) => media.forget(ids),
    sweepFiles: () => media.sweep(),
    stopping: () => stages.running.draining,
  } satisfies Partial<ForgettingDeps>
  const forgetting = createForgetting({
    ...{ ...ports, channels, unsay: delivery.takeBack, nextOutcome: delivery.nextStep },
    nextEnd: (session) => stages.running.nextEnd(session),
    schedulesChanged: () => schedules.changed(),
    backups: () => copiesOf(config.store.path),
  })
  // Whoever has left every chat is on record as an author alone.
  const idsOf = (person: PersonId) => personIds(people, store.read.authors, person)
  const retention = createRetention({
    ...{ ...ports, ageingTime: parts.ageingTime },
    limits: compileAgeLimits(config.retention ?? { rules: [] }, channels, lookups.moves),
    async tellOwners(about, text) {
      const [where] = parts.accounts.all
      return where === undefined || parts.notifyOwners(where, { about: `retention:${about}`, text })
    },
  })
  return {
    forgetting,
    idsOf,
    retain: retention.round,
    ageLimits: retention.limits,
    operate: (readLink) =>
      operateForgetting({
        ...{ store, clock, channels, forgetting, retention, idsOf, readLink, whoIs: lookups.whoIs },
        findMessages: (asked) => findMessages(store.read, asked),
      }),
  }
}

/** Returns the files beside the database that begin with its name: copies from before an upgrade, and by hand. */
function copiesOf(path: string): readonly string[] {
  const name = basename(path)
  return readdirSync(dirname(path))
    .filter((file) => file.startsWith(name) && file !== name && !LIVE_ENDS.some((end) => file === `${name}${end}`))
    .map((file) => join(dirname(path), file))
}
