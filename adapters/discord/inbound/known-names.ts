import { LRUCache } from 'lru-cache'
import { type Fields, isFields } from '../../shared/fields.ts'
import { isSnowflake } from '../address.ts'

/** A role of a guild; `botId` is the bot that the platform manages it for. */
export interface KnownRole {
  readonly name: string
  readonly botId?: string
}

/** Returns the names that the gateway said; each is text for people, by the id it belongs to. */
export interface NameLookup {
  role(id: string): KnownRole | undefined
  /** A channel, thread or forum. */
  place(id: string): string | undefined
  /** The name under which people read somebody in a guild; in a direct chat none is known but this bot's own. */
  person(guildId: string | undefined, id: string): string | undefined
}

/** More than the 250 roles of each of 100 guilds. */
const MOST_ROLES = 25_000
const MOST_PLACES = 10_000
const MOST_PEOPLE = 5_000
/** Longer than any name on the platform. */
const LONGEST_NAME = 100

/**
 * Owns the names of roles, of places that hold no messages themselves, and of people as they are called in a guild. A
 * session of the gateway begins with the first two, and what was known stays until then.
 */
export class KnownNames implements NameLookup {
  readonly #own: { readonly id: string; readonly name: string } | undefined
  readonly #roles = new LRUCache<string, KnownRole>({ max: MOST_ROLES })
  readonly #places = new LRUCache<string, string>({ max: MOST_PLACES })
  readonly #people = new LRUCache<string, string>({ max: MOST_PEOPLE })

  /** `own` is this bot, which people may mention before anything was said of it. */
  constructor(own?: { readonly id: string; readonly name: string }) {
    this.#own = own
  }

  role(id: string): KnownRole | undefined {
    return this.#roles.get(id)
  }

  place(id: string): string | undefined {
    return this.#places.get(id)
  }

  person(guildId: string | undefined, id: string): string | undefined {
    return this.#people.get(`${guildId}/${id}`) ?? (id === this.#own?.id ? this.#own.name : undefined)
  }

  /** Takes in a dispatch; what cannot be read of it is left out. */
  take(type: string, data: unknown): void {
    if (!isFields(data)) return
    if (type === 'GUILD_CREATE') {
      for (const role of listed(data.roles)) this.#keepRole(role)
      for (const channel of [...listed(data.channels), ...listed(data.threads)]) this.#keepPlace(channel)
    } else if (type === 'GUILD_ROLE_CREATE' || type === 'GUILD_ROLE_UPDATE') this.#keepRole(data.role)
    else if (type === 'GUILD_ROLE_DELETE') this.#roles.delete(String(data.role_id))
    else if (PLACES.has(type)) this.#keepPlace(data)
    else if (type === 'THREAD_LIST_SYNC') for (const thread of listed(data.threads)) this.#keepPlace(thread)
  }

  /** Notes what the people of a live message are called there: only the gateway says it, and only with messages. */
  meet(message: unknown): void {
    if (!isFields(message) || !isSnowflake(message.guild_id)) return
    const { guild_id: guild, author, member, mentions } = message
    this.#meetOne(guild, author, member)
    if (Array.isArray(mentions))
      for (const user of mentions.slice(0, MOST_LISTED)) this.#meetOne(guild, user, isFields(user) && user.member)
  }

  #meetOne(guildId: string, user: unknown, member: unknown): void {
    if (!isFields(user) || !isFields(member) || !isSnowflake(user.id)) return
    const name = nameOf(member.nick) ?? nameOf(user.global_name) ?? nameOf(user.username)
    if (name !== undefined) this.#people.set(`${guildId}/${user.id}`, name)
  }

  #keepRole(role: unknown): void {
    if (!isFields(role) || !isSnowflake(role.id)) return
    const name = nameOf(role.name)
    const botId = isFields(role.tags) ? role.tags.bot_id : undefined
    if (name !== undefined) this.#roles.set(role.id, isSnowflake(botId) ? { name, botId } : { name })
  }

  #keepPlace(channel: unknown): void {
    if (!isFields(channel) || !isSnowflake(channel.id)) return
    const name = nameOf(channel.name)
    if (name !== undefined) this.#places.set(channel.id, name)
  }
}

const PLACES = new Set(['CHANNEL_CREATE', 'CHANNEL_UPDATE', 'THREAD_CREATE', 'THREAD_UPDATE'])
const MOST_LISTED = 1_000

function listed(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value.slice(0, MOST_LISTED) : []
}

/** Returns a name on one line, bounded; undefined for what is none. */
export function nameOf(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined
  const name = value.slice(0, LONGEST_NAME).replace(/\s+/g, ' ').trim()
  return name === '' ? undefined : name
}

/** Returns the name under which people read a user: of that guild, of the account, or the account's own. */
export function displayNameOf(user: Fields, nick: unknown, known: string | undefined): string | undefined {
  return nameOf(nick) ?? known ?? nameOf(user.global_name)
}
