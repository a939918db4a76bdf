import type { Address } from '../core/address.ts'
import type { Finding } from '../core/finding.ts'
import type { AccountSettings, BotIdentity } from './adapter.ts'

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
  /** What people are surprised by later, said before: privacy mode, intents, scopes. A line each. */
  readonly cautions: readonly string[]
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
  /** How the platform calls it. */
  readonly label: string
  /** Returns what is wrong with a text that cannot be one, in words; undefined for one that may be. Never quotes it. */
  mistake(text: string): string | undefined
}

export interface SetupManifest {
  readonly fileName: string
  readonly text: string
  /** Where it is given to the platform, in words. */
  readonly use: string
}

export interface ExamineRequest {
  /** The conversations that are known to the store, of this account. */
  readonly places: readonly SetupPlace[]
  /** Whether a daemon of ours is receiving for this account now. */
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
  /** The address by which it is added to a group or server, with exactly the permissions that the adapter uses. */
  readonly invite?: string
}
