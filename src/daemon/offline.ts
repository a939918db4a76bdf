import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { operateApprovals } from '../approvals/operate-approvals.ts'
import { loadAccounts } from '../channels/accounts.ts'
import type { ChannelPlugin } from '../channels/adapter.ts'
import { type Config, isPlaceOf } from '../config/config.ts'
import { type Channels, createChannels } from '../core/channel-traits.ts'
import { systemClock } from '../core/clock.ts'
import { ParleyError } from '../core/errors.ts'
import { createIdSource } from '../core/ids.ts'
import { silentLogger } from '../core/logger.ts'
import type { MediaStore } from '../core/media.ts'
import type { OperatorService } from '../core/operator.ts'
import { planRows } from '../delivery/plan-rows.ts'
import { DEFAULT_SETTINGS } from '../delivery/settings.ts'
import { createMediaStore } from '../media/media-store.ts'
import { operatorSchedules } from '../schedule/schedule-service.ts'
import { operateAdmissions } from '../sessions/people/operate-admissions.ts'
import { operatePeople } from '../sessions/people/operate-people.ts'
import { createTokens } from '../sessions/people/tokens.ts'
import { createArchives } from '../sessions/service/archives.ts'
import { createNotify, type Notify } from '../sessions/service/notify.ts'
import { offlineSessions } from '../sessions/service/session-rules.ts'
import { openSqliteStore } from '../store/engines/sqlite.ts'
import type { Store } from '../store/store.ts'
import { reportServers } from './model-servers.ts'
import { configured, createOperator } from './operator.ts'
import { createRestoration } from './restoration.ts'
import { storeKeyOf } from './store-key.ts'
import { textRedactor } from './text-redactor.ts'
import { createWhy, type WhySources } from './why.ts'

type Lookups = WhySources['lookups'] & Readonly<Record<string, ChannelPlugin<never>>>

/** The answers of a store that no daemon holds. Rejects with `store_locked` or `store_newer`. */
export async function openOffline(
  config: Config,
  { version, lookups }: { readonly version: string; readonly lookups: Lookups },
): Promise<OperatorService & { close(): Promise<void> }> {
  const channels = createChannels(config.routing.traits)
  const { caseSensitive } = channels
  const store = await openSqliteStore({
    path: config.store.path,
    key: storeKeyOf(config),
    clock: systemClock,
    logger: silentLogger,
    caseSensitive,
  })
  const operator = createOperator({
    store,
    clock: systemClock,
    version,
    ...configured(config),
    servers: () => reportServers(config),
    timezone: config.budgets?.timezone,
    ownerNamed: config.routing.people.some(({ role }) => role === 'owner'),
    sessions: offlineSessions(config, { store, clock: systemClock, channels }),
    archives: createArchives({
      store,
      clock: systemClock,
      media: mediaOf(config, store),
      redact: textRedactor(config),
    }),
    schedules: operatorSchedules({ store, clock: systemClock, isPlace: isPlaceOf(config) }),
    notify: offlineNotify(config, { store, channels, plugins: lookups }),
    why: createWhy({ read: store.read, lookups, channels: () => [] }),
    people: operatePeople({ store, channels, people: () => config.routing.people }),
    admissions: operateAdmissions({ store }),
    approvals: operateApprovals({ store, clock: systemClock }),
    outbox: createRestoration({ store }),
    tokens: createTokens({ store, clock: systemClock, randomBytes }).operator,
    forgetting: offlineForgetting,
    config: {
      async reload() {
        throw new ParleyError('unavailable', 'No daemon is running; it reads the configuration when it starts.')
      },
    },
  })
  return { ...operator, close: () => store.close() }
}

/** Only the daemon knows the turns and chats that are in the middle of something. */
async function needsDaemon(): Promise<never> {
  throw new ParleyError('unavailable', 'Start the daemon for that, for it alone knows what is under way: parley start.')
}

const offlineForgetting: OperatorService['forgetting'] = {
  forget: needsDaemon,
  retention: needsDaemon,
  runRetention: needsDaemon,
}

interface OfflineNotifying {
  readonly store: Store
  readonly channels: Channels
  readonly plugins: Readonly<Record<string, ChannelPlugin<never>>>
}

/** Queues the texts of scripts for the next start, which also asks the send policy. */
function offlineNotify(config: Config, { store, channels, plugins }: OfflineNotifying): Notify {
  const ids = createIdSource({ now: systemClock.now, randomBytes })
  const { answerParts = DEFAULT_SETTINGS.answerParts } = config.session
  const settings = { ...DEFAULT_SETTINGS, answerParts }
  return async (caller, wanted, left) => {
    const { format } = await loadAccounts(config.channels, plugins)
    const rules = {
      ...{ ids, clock: systemClock, settings, epoch: store.epoch, format },
      sendAllowed: () => ({ allowed: true, because: 'it is asked when it is sent' }),
      claim: () => false,
    }
    const notify = createNotify({
      ...{ store, ids, clock: systemClock, channels, media: mediaOf(config, store), isPlace: isPlaceOf(config) },
      redact: textRedactor(config),
      plan: (tx, message) => planRows(rules, tx, message),
      release: () => {},
    })
    return notify(caller, wanted, left)
  }
}

function mediaOf(config: Config, { read }: Pick<Store, 'read'>): MediaStore {
  const [folder, key] = [join(config.dataDir, 'media'), storeKeyOf(config)]
  return createMediaStore({ folder, clock: systemClock, key, used: (ids) => read.media.used(ids) })
}
