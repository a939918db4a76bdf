import { hash } from 'node:crypto'
import type { Address } from '../core/address.ts'
import type { Channels } from '../core/channel-traits.ts'
import type { AgeLimit, RetentionSettings } from '../core/retention.ts'
import { matchFacts, NO_SENDER } from './match-facts.ts'
import { compilePlace, matchesPlace } from './place-match.ts'

export interface AgeLimits {
  readonly all: readonly AgeLimit[]
  /** The limits of some places differ from that of all others. */
  readonly differ: boolean
  /** Some of these places are topics. */
  readonly byTopic: boolean
  /** Returns the limit for a conversation; undefined: it is kept. */
  of(address: Address): AgeLimit | undefined
}

/** The chats that got a new id: a rule may name one by either, and so may what was said there. */
interface Moves {
  formerChat(channel: string, chat: string): string | undefined
  follow(address: Address): Address
}

/** Throws `config` for an id that is empty. */
export function compileAgeLimits(
  { days, rules }: RetentionSettings,
  channels: Channels,
  { formerChat, follow }: Moves,
): AgeLimits {
  const compiled = rules.map((rule, at) => ({
    place: compilePlace(rule.match, `retention.rules[${at}].match`, channels),
    limit: rule.days === 'keep' ? undefined : limitOf(`retention.rules[${at}]`, rule.days, rules.slice(0, at + 1)),
  }))
  const general = days === undefined ? undefined : limitOf('retention.days', days, rules)
  return {
    differ: rules.length > 0,
    byTopic: rules.some(({ match }) => match.topic !== undefined),
    all: [...compiled.map(({ limit }) => limit), general].filter((limit) => limit !== undefined),
    of(given) {
      const address = follow(given)
      const facts = matchFacts({ address, traits: channels.traits(address.channel) }, NO_SENDER, {
        person: undefined,
        mentioned: false,
        formerChat: formerChat(address.channel, address.chat),
      })
      const found = compiled.find(({ place }) => matchesPlace(place, facts))
      return found === undefined ? general : found.limit
    },
  }
}

function limitOf(rule: string, days: number, rules: RetentionSettings['rules']): AgeLimit {
  const places = JSON.stringify(rules.map(({ match }) => match))
  return { rule, days, key: `${rule} ${hash('sha256', places).slice(0, 16)}` }
}
