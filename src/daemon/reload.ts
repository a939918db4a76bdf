import type { Config } from '../config/config.ts'
import { laterChanges } from '../config/later-changes.ts'
import { ParleyError } from '../core/errors.ts'
import type { Logger } from '../core/logger.ts'
import type { ConfigOperator } from '../core/operate-config.ts'
import type { RoutingPolicy } from '../core/policy.ts'
import { compareAccess } from '../routing/compare-access.ts'
import { compileRouting, type Routing } from '../routing/compile-routing.ts'

/** The one place that holds the policy in force. Nobody keeps what `routing` returned: a reload replaces it. */
export interface LiveRouting {
  /** Returns the compiled policy in force. */
  routing(this: void): Routing
  readonly policy: RoutingPolicy
  /** Throws `config` and changes nothing if the policy makes no sense. Returns the warnings. */
  replace(policy: RoutingPolicy): readonly string[]
}

export function createLiveRouting(first: RoutingPolicy, warn: (warning: string) => void): LiveRouting {
  const compiled = compileRouting(first)
  for (const warning of compiled.warnings) warn(warning)
  let policy = first
  let current = compiled.routing
  return {
    routing: () => current,
    get policy() {
      return policy
    },
    replace(next) {
      const { routing: compiled, warnings } = compileRouting(next)
      policy = next
      current = compiled
      return warnings
    },
  }
}

export interface ReloadDeps {
  /** Somebody is the owner by a claim. */
  claimed(): boolean
  /** Another policy is in force. Returns what is doubtful about it beside what stands in it. */
  policyChanged(): Promise<readonly string[]>
  readonly live: LiveRouting
  /** The configuration this daemon was started with. */
  readonly running: Config
  readonly logger: Logger
  /** Reads the configuration as the start did; absent without a daemon. */
  readonly load?: () => Promise<Config>
}

/** Takes over a changed policy while the daemon runs; what got wider is said line by line (F-H14). */
export function createReload({ live, running, logger, load, policyChanged, claimed }: ReloadDeps): ConfigOperator {
  return {
    async reload() {
      if (!load) throw new ParleyError('unavailable', 'Start the daemon first; it reads the configuration then.')
      const next = await load().catch(refuse)
      // The agents are those that run: another list takes effect at the next start.
      const policy: RoutingPolicy = { ...next.routing, agents: live.policy.agents }
      const before = live.policy
      const warnings = attempt(() => live.replace(policy))
      const changes = compareAccess(before, policy, { claimed: claimed() })
      for (const change of changes.wider) logger.warn('The policy lets more be seen or done than before', { change })
      for (const change of changes.narrower) logger.info('The policy lets less be seen or done than before', { change })
      const later = laterChanges(running, next)
      logger.info('The policy was read again', { file: next.file, ...counts(changes), later })
      return { ...changes, warnings: [...next.warnings, ...warnings, ...(await policyChanged())], later }
    },
  }
}

function counts({ wider, narrower, other }: ReturnType<typeof compareAccess>) {
  return { wider: wider.length, narrower: narrower.length, other: other.length }
}

function attempt<Value>(work: () => Value): Value {
  try {
    return work()
  } catch (error) {
    return refuse(error)
  }
}

function refuse(error: unknown): never {
  if (!(error instanceof ParleyError) || error.code !== 'config') throw error
  throw new ParleyError('invalid', `${error.message}\nNothing was changed: the policy of before holds.`, {
    cause: error,
  })
}
