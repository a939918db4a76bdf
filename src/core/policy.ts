import type { ChatType } from './address.ts'
import type { BotBudget } from './bot-budget.ts'
import type { TraitsByChannel } from './channel-traits.ts'
import type { AgentId, ChannelId, PersonId } from './ids.ts'
import { machineZone } from './machine-zone.ts'
import type { Precheck } from './precheck.ts'
import type { Dimension, Role } from './session.ts'

/**
 * The part of the configuration that routing decides by, as plain values. `config` produces it, `routing` compiles and
 * reads it. Order matters wherever there is a list.
 */
export interface RoutingPolicy {
  readonly people: readonly PersonPolicy[]
  /** The first is the default agent. */
  readonly agents: readonly AgentId[]
  readonly access: AccessPolicy
  /** Owner messages trigger without being addressed (S24). A group rule may say otherwise for its places. */
  readonly ownerAlwaysTriggers: boolean
  /** Names that address the agent in groups when somebody writes one. A group rule's own list replaces it there. */
  readonly wakeWords: readonly string[]
  /** In direct chats, and in groups whose rule does not say otherwise. */
  readonly edits: EditPolicy
  readonly deletions: DeletionPolicy
  readonly botBudget: BotBudget
  readonly dispatch: readonly DispatchRule[]
  readonly sendPolicy: SendPolicy
  readonly scope: 'routed' | 'global'
  readonly dimensions: readonly Dimension[]
  /** A channel block's own list, which replaces the global one there. */
  readonly channelDimensions: Readonly<Record<ChannelId, readonly Dimension[]>>
  readonly direct: 'chat' | 'person' | 'main'
  /** The traits of each platform. They are not configured, but the configuration is read by them. */
  readonly traits: TraitsByChannel
}

export interface PersonPolicy {
  readonly id: PersonId
  /** IANA name. Absent: the zone of the daemon. */
  readonly timezone?: string
  readonly role: Role
  /** `<channel>:<id>` or a bare id, which matches on any channel (K15). */
  readonly ids: readonly string[]
}

/** Decides who may talk. An unset or empty list of groups admits nobody but the owner. */
export interface AccessPolicy {
  readonly direct: Audience
  /** The first match decides. */
  readonly groups: readonly GroupRule[]
}

/** `owner`; `allowlist`: everybody named under `people`; `public`: anyone. */
export type Audience = 'owner' | 'allowlist' | 'public'

export interface GroupRule {
  readonly match: PlaceMatch
  readonly who: Audience
  readonly trigger: 'mention' | 'always' | 'never'
  /** Asked first where nothing but `trigger: always` starts a turn. */
  readonly precheck?: Precheck
  readonly ownerAlwaysTriggers?: boolean
  readonly wakeWords?: readonly string[]
  /** In a thread the agent is part of, what is said there addresses it until the thread falls quiet. */
  readonly followThreads?: boolean
  readonly edits?: EditPolicy
  readonly deletions?: DeletionPolicy
  /** Default: context where everybody may talk, else ignore. */
  readonly bots?: BotPolicy
  /** Which bots, by `<channel>:<id>` or bare id; none: nobody. */
  readonly botIds?: readonly string[]
}

/**
 * `ignore`: nothing that a bot says is known. Else it is context of the next prompt, as an alert that people ask about.
 * `context`: no bot is answered. `mentioned`: a listed bot is answered where it mentions the agent or replies to it.
 * `allow`: as anybody else who is admitted, except that a bot never has authority, and neither wake words nor followed
 * threads answer it.
 */
export type BotPolicy = 'ignore' | 'context' | 'mentioned' | 'allow'

/** Returns the policy of a rule that says nothing of bots: their words are known where those of every stranger are. */
export function botsUnless(who: Audience | undefined): BotPolicy {
  return who === 'public' ? 'context' : 'ignore'
}

/**
 * `ignore`: what was first written stands. `update`: an edit of a message that still waits changes what its turn reads,
 * a later one is shown with the next prompt. `rerun`: as `update`, and what would be answered if it were new is
 * answered again.
 */
export type EditPolicy = 'ignore' | 'update' | 'rerun'

/** `redact`: no later prompt has the text, and what still waits is not answered. */
export type DeletionPolicy = 'ignore' | 'redact'

/** An unset field does not restrict. Ids are compared without case and outer spaces. */
export interface PlaceMatch {
  readonly channel?: string
  readonly account?: string
  readonly space?: string
  readonly chat?: string
  readonly topic?: string
}

export interface DispatchRule {
  readonly name?: string
  readonly match: PlaceMatch & { readonly sender?: string; readonly mentioned?: boolean }
  readonly agent?: string
  readonly dimensions?: readonly string[]
}

/** Any matching deny wins over any matching allow, whatever the order (T24). */
export interface SendPolicy {
  readonly rules: readonly SendRule[]
  readonly default: 'allow' | 'deny'
}

export interface SendRule {
  readonly match: PlaceMatch & {
    readonly chatType?: ChatType
    readonly person?: string
    readonly keyPrefix?: string
  }
  /** Unset allows. */
  readonly action?: 'allow' | 'deny'
}

/** Returns the zone in which a person writes and reads times; that of the machine where none is configured. */
export function zoneOfPerson({ people }: Pick<RoutingPolicy, 'people'>, person: string | undefined): string {
  const configured = people.find(({ id }) => id === person)?.timezone
  return configured ?? machineZone()
}
