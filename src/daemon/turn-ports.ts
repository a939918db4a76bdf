import type { ChannelAdapter } from '../channels/adapter.ts'
import { readsThreads } from '../channels/capabilities.ts'
import type { Config } from '../config/config.ts'
import type { Address } from '../core/address.ts'
import type { Logger } from '../core/logger.ts'
import { redactEvent } from '../core/redact-dispatch.ts'
import { turnCapOf } from '../core/turn-cap.ts'
import type { ThreadDeps } from '../pipeline/read-thread.ts'
import type { RunTurnDeps } from '../pipeline/run-turn.ts'
import { decideDispatch } from '../routing/decide-dispatch.ts'
import type { Lookups } from './lookups.ts'
import type { CurrentRouting } from './reload.ts'

interface TurnPortsDeps {
  readonly config: Config
  readonly policies: CurrentRouting
  readonly lookups: Lookups
  readonly people: Pick<ThreadDeps, 'overheard'>
  readonly logger: Logger
  adapter(this: void, address: Address): ChannelAdapter | undefined
  /** Returns a text without the values of configured secrets. */
  redact(this: void, text: string): string
  /** Messages of a thread that are read before its first turn. */
  readonly most: number
}

type TurnPorts = Pick<RunTurnDeps, 'cap' | 'verbose'> &
  Pick<ThreadDeps, 'logger' | 'channels' | 'readThread' | 'judge' | 'overheard'>

/** Returns what a turn asks of its session, and of a thread that began before anybody addressed the agent in it. */
export function turnPorts(deps: TurnPortsDeps): TurnPorts {
  const { config, policies, lookups, people, logger, adapter, most, redact } = deps
  return {
    cap: (session) => turnCapOf(config.session.turnCap ?? {}, session),
    verbose: ({ id }) => lookups.overrides.of(id).verboseLevel,
    ...{ logger, channels: policies.routing().channels, overheard: people.overheard },
    judge: (dispatch) => decideDispatch(policies.routing(), lookups.facts, dispatch).decision,
    async readThread(address, before, signal) {
      const account = adapter(address)
      if (account === undefined || !readsThreads(account)) return undefined
      const read = await account.readThread({ address, before, most }, signal)
      return 'events' in read ? { ...read, events: read.events.map((event) => redactEvent(event, redact)) } : read
    },
  }
}
