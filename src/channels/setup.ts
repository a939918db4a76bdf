import type { Address } from '../core/address.ts'
import type { Clock } from '../core/clock.ts'
import type { Finding } from '../core/finding.ts'
import type { Logger } from '../core/logger.ts'

/**
 * Everything about a platform that a person needs before its account works, and the examination that says whether it
 * does. Used by `parley init` and `parley doctor`; a daemon that runs never loads it.
 */
export interface ChannelSetup<Config> {
  /** The name of the platform as people write it. */
  readonly title: string
  /** The secrets of an account, in the order in which people meet them at the platform. */
  readonly secrets: readonly SetupSecret[]
  /** The steps at the platform before there is a secret to enter, with the places to click, a line each. */
  readonly steps: readonly string[]
  /** The surprises of later, said before: privacy mode, intents, scopes. A line each. */
  readonly cautions: readonly string[]
  /** The step before anybody can write to the bot, whose address follows; absent where everybody can. */
  readonly inviteFirst?: string
  /** A file that the platform takes to make the app, derived from what the adapter uses; absent where there is none. */
  readonly manifest?: SetupManifest
  /**
   * Asks the platform about an account: token, intents, scopes, privacy mode, webhook, other pollers, and the rights in
   * `places`. Changes nothing there, and disturbs no daemon that runs with the same account while `beside` is true.
   * Never throws: whatever fails is a finding. Ends within 30 s, or at `signal`.
   */
  examine(account: AccountSettings<Config>, request: ExamineRequest): Promise<Examination>
}

export interface SetupSecret {
  /** Its setting in the account's block: `token`. */
  readonly setting: string
  /** The environment variable that names it: `TELEGRAM_BOT_TOKEN`. */
  readonly variable: string
  /** Its name at the platform. */
  readonly label: string
  /** Returns what is wrong with a text that cannot be one, in words; undefined for one that may be. Never quotes it. */
  mistake(text: string): string | undefined
}

export interface SetupManifest {
  readonly fileName: string
  readonly text: string
  /** The place at the platform that takes it, in words. */
  readonly use: string
}

export interface ExamineRequest {
  /** The conversations that are known to the store, of this account. */
  readonly places: readonly SetupPlace[]
  /** True while a daemon of ours receives for this account. */
  readonly beside: boolean
  readonly signal: AbortSignal
}

export interface SetupPlace {
  readonly address: Address
  readonly title?: string
}

export interface Examination {
  /** The bot behind the token; absent where the token is refused or nobody answers. */
  readonly identity?: BotIdentity
  readonly findings: readonly Finding[]
  /** The address, or the command there, that adds it to a group or server with the permissions that the adapter uses. */
  readonly invite?: string
}

export interface BotIdentity {
  readonly id: string
  readonly username: string
  readonly displayName: string
  /** False where the platform shows it only what addresses it in groups. */
  readonly readsGroups?: boolean
}

export interface AccountSettings<Config> {
  readonly account: string
  readonly config: Config
  readonly services: AdapterServices
}

/** The powers an adapter is handed. */
export interface AdapterServices {
  readonly clock: Clock
  readonly logger: Logger
  /** In [0, 1), for jitter. */
  random(): number
}
