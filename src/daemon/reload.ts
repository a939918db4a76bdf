import type { Config } from '../config/config.ts'
import { laterChanges } from '../config/later-changes.ts'
import { ParleyError } from '../core/errors.ts'
import type { Logger } from '../core/logger.ts'
import type { ConfigOperator } from '../core/operate-config.ts'
import type { RoutingPolicy } from '../core/policy.ts'
import { compareAccess } from '../routing/compare-access.ts'
import { compileRouting, type Routing } from '../routing/compile-routing.ts'

/** The one holder of the policy in force. Nobody keeps the result of `routing`, since a reload replaces it. */
export interface CurrentRouting {
  /** Returns the compiled policy in force. */
  routing(this: void): Routing
  readonly policy: RoutingPolicy
  /** Replaces the policy and returns the warnings. Throws `config`, without a change, if the policy makes no sense. */
  replace(policy: RoutingPolicy): readonly string[]
}

export function createCurrentRouting(first: RoutingPolicy, warn: (warning: string) => void): CurrentRouting {
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
  /** Returns true if somebody is the owner by a claim. */
  claimed(): boolean
  /** Called when another policy is in force. Returns warnings that depend on more than the policy itself. */
  policyChanged(): Promise<readonly string[]>
  readonly policies: CurrentRouting
  /** The configuration this daemon was started with. */
  readonly running: Config
  readonly logger: Logger
  /** Reads the configuration as the start did; absent without a daemon. */
  readonly load?: () => Promise<Config>
}

/** Applies a changed policy while the daemon runs, and reports each line that widens access (F-H14). */
export function createReload({ policies, running, logger, load, policyChanged, claimed }: ReloadDeps): ConfigOperator {
  return {
    async reload() {
      if (!load) throw new ParleyError('unavailable', 'Start the daemon first; it reads the configuration then.')
      const next = await load().catch(refuse)
      // The running agents stay: another list takes effect at the next start.
      const policy: RoutingPolicy = { ...next.routing, agents: policies.policy.agents }
      const before = policies.policy
      const warnings = attempt(() => policies.replace(policy))
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
