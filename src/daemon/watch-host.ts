import type { Config } from '../config/config.ts'
import type { Clock } from '../core/clock.ts'
import type { Finding } from '../core/finding.ts'
import { toAccountId } from '../core/ids.ts'
import type { Logger } from '../core/logger.ts'
import type { AccountAt, OwnerNotice } from '../core/owner-notice.ts'
import { readJson } from '../core/read-json.ts'
import type { Store } from '../store/store.ts'

interface HostWatch {
  readonly config: Pick<Config, 'file' | 'dataDir' | 'store'>
  readonly clock: Clock
  readonly logger: Logger
  readonly store: Pick<Store, 'read' | 'write'>
  /** The account from which owners are notified; if there is none, only the log says it. */
  readonly where: AccountAt | undefined
  notifyOwners(this: void, where: AccountAt, notice: OwnerNotice): Promise<boolean>
}

/** The place of the last findings: beside the state of the channels, under a name that no channel has. */
const STATE = ['parley', toAccountId('default'), 'host'] as const
const KEPT = { bytes: 64_000, values: 1_000 }
const RANKS: readonly Finding['state'][] = ['ok', 'warning', 'failed']

/** The states of the last look by part and check; one that is absent was `ok`. */
type States = Readonly<Record<string, Finding['state']>>

/**
 * Returns a look at the host, for each hour: owners get one notice of whatever is worse than at the look before, also
 * over a restart. The first look of all says only what has failed. Its code is loaded with it. It is begun and not
 * waited for: it may need a minute for the time of somebody else's answer, and nothing else is to wait for that.
 */
export function watchHost(watch: HostWatch): () => Promise<void> {
  let looks = false
  return async () => {
    if (looks) return
    looks = true
    lookAtHost(watch)
      .catch((err: unknown) => watch.logger.debug('The look at this machine ended early', { err }))
      .finally(() => {
        looks = false
      })
  }
}

/** Looks once, and resolves when what it found is noted. */
export async function lookAtHost({ config, clock, logger, store, where, notifyOwners }: HostWatch): Promise<void> {
  const { examineHourly } = await import('./examine-host.ts')
  const findings = await examineHourly({ config, now: clock.now(), pid: process.pid }, clock)
  const kept = await store.read.channelState.get(...STATE)
  const known = kept === undefined ? undefined : (readJson(kept, KEPT) as States)
  const worse = worseThan(known, findings)
  for (const { part, check, says } of worse)
    logger.warn('Something about this machine got worse', { part, check, says })
  if (worse.length > 0 && where !== undefined && !(await notifyOwners(where, noticeOf(worse)))) return
  const states = JSON.stringify(statesOf(findings, known))
  if (states !== kept) await store.write((tx) => tx.channelState.set(...STATE, states))
}

function worseThan(known: States | undefined, findings: readonly Finding[]): readonly Finding[] {
  return findings.filter(({ part, check, state }) => {
    const before = known === undefined ? 'warning' : (known[`${part}/${check}`] ?? 'ok')
    return RANKS.indexOf(state) > RANKS.indexOf(before)
  })
}

/** Returns the bad states; a check that was skipped this time keeps its state. */
function statesOf(findings: readonly Finding[], known: States = {}): States {
  const now = findings.map(({ part, check, state }) => {
    const name = `${part}/${check}`
    return [name, state === 'skipped' ? (known[name] ?? 'ok') : state] as const
  })
  return Object.fromEntries(now.filter(([, state]) => state !== 'ok'))
}

function noticeOf(worse: readonly Finding[]): OwnerNotice {
  const names = worse.map(({ part, check }) => `${part}/${check}`)
  const lines = worse.map(({ part, says, remedy = '' }) => `${part}: ${says}. ${remedy}`)
  const text = ['This got worse on my machine:', ...lines, 'All of it: parley doctor'].join('\n')
  return { about: `host:${names.toSorted().join(',')}`, text }
}
