import type { Accounts } from '../channels/accounts.ts'
import type { Config } from '../config/config.ts'
import { type Address, formatAddress } from '../core/address.ts'
import type { Clock } from '../core/clock.ts'
import type { Logger } from '../core/logger.ts'
import { NO_MODEL } from '../core/model.ts'
import { whyUnusable } from '../core/model-server.ts'
import type { DaemonEvents } from './daemon-events.ts'
import { createModelHealth, type ModelHealth } from './model-health.ts'

interface HealthParts {
  readonly config: Pick<Config, 'agents' | 'models'>
  readonly clock: Clock
  readonly accounts: Accounts
  readonly events: Pick<DaemonEvents, 'ownerNotice'>
}

/** Returns the health of the configured models; an owner learns of one that fails. */
export function healthOf({ config, clock, accounts, events }: HealthParts): ModelHealth {
  return createModelHealth({
    ...{ clock, where: accounts.all[0], notify: events.ownerNotice.emit },
    unconfigured: new Map(
      config.agents.flatMap(({ model, fallback = [] }) =>
        [model, ...fallback]
          .filter((one) => one !== NO_MODEL)
          .map((one) => [one, whyUnusable(one, config.models)] as const),
      ),
    ),
  })
}

/** Returns the function that is called for a message whose session cannot be read: log and owners learn of it. */
export function noticeOfUnreadable(
  { events }: Pick<HealthParts, 'events'>,
  logger: Logger,
): (address: Address, err: unknown) => void {
  return (address, err) => {
    logger.error('A message is refused: a row it needs cannot be read', { err })
    const place = formatAddress(address)
    const text = `The record of ${place} cannot be read: what is said there is refused. My log names the row.`
    events.ownerNotice.emit({ where: address, notice: { about: `unreadable:${place}`, text } })
  }
}
