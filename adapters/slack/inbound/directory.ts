import { LRUCache } from 'lru-cache'
import type { ChatType } from '../../../src/core/address.ts'
import type { Clock } from '../../../src/core/clock.ts'
import { titleOf } from '../../../src/core/titles.ts'
import { type Fields, isFields, present } from '../../shared/fields.ts'
import type { SlackClient } from '../connection/client.ts'
import type { SlackMethod } from '../connection/scopes.ts'

interface DirectoryDeps {
  readonly client: SlackClient
  readonly clock: Clock
  readonly signal: AbortSignal
}

/** An event is acknowledged within 3 s or it comes again: looking things up may take only a part of that. */
const DEADLINE_MS = 1000
const PEOPLE_LAST_MS = 60 * 60_000
/** A conversation may be shared with another workspace at any time, and the event that says it may be missed. */
const SHARING_LASTS_MS = 60_000
const FAILURES_LAST_MS = 60_000
const FOR_EVER = 0
const MOST_KNOWN = 5000
/** People who are looked up at a time: hundreds of calls at once would hold up everybody's messages. */
const MOST_ASKED = 20

/** Answers and those that are being asked for, by id. */
type Known<Value> = LRUCache<string, Promise<Value | undefined>>

/** The platform's data about a user. */
export interface SlackPerson {
  /** The name that people read. */
  readonly name?: string
  /** The name of the account. */
  readonly username?: string
  readonly team?: string
  /** The platform says that it is no program. */
  readonly isPerson: boolean
  /** The organisation they belong to (Enterprise Grid), and its workspaces they are in. */
  readonly enterprise?: { readonly id: string; readonly teams: readonly string[] }
}

/** The platform's data about a conversation. */
interface SlackPlace {
  readonly chatType: ChatType
  readonly title: string | undefined
  readonly internal: boolean
}

/**
 * Looks up the data that events leave out: people's names, the team of a user, and the kind of conversation a mention
 * stands in.
 */
export class Directory {
  readonly #deps: DirectoryDeps
  readonly #people: Known<SlackPerson>
  readonly #chats: Known<ChatType>
  readonly #internal: Known<boolean>
  /** The titles of channels; undefined for one that the platform was asked about and gave none. */
  readonly #titles: Known<string>
  /** Conversations that are being asked about: one answer says all there is to know. */
  readonly #places = new Map<string, Promise<SlackPlace | undefined>>()
  #asking = 0

  constructor(deps: DirectoryDeps) {
    this.#deps = deps
    const options = {
      max: MOST_KNOWN,
      ttl: PEOPLE_LAST_MS,
      ttlResolution: 0,
      perf: { now: () => deps.clock.elapsed() },
    }
    this.#people = new LRUCache(options)
    this.#chats = new LRUCache(options)
    this.#internal = new LRUCache({ ...options, ttl: SHARING_LASTS_MS })
    this.#titles = new LRUCache(options)
  }

  /** Undefined when it cannot be asked, or too many are asked for: it is then looked up at the next message. */
  personOf(user: string): Promise<SlackPerson | undefined> {
    if (this.#asking >= MOST_ASKED && !this.#people.has(user)) {
      return this.#people.get(user, { allowStale: true, noDeleteOnStaleGet: true }) ?? Promise.resolve(undefined)
    }
    return this.#look(this.#people, user, () => this.#askPerson(user))
  }

  async #askPerson(user: string): Promise<SlackPerson | undefined> {
    this.#asking++
    try {
      return await this.#ask('users.info', { user }, personIn)
    } finally {
      this.#asking--
    }
  }

  /** Stores the chat type that an event gave. */
  learnChat(channel: string, chatType: ChatType): void {
    this.#chats.set(channel, Promise.resolve(chatType), { ttl: FOR_EVER })
  }

  /** Stores what an event said of its conversation. */
  learnInternal(channel: string, internal: boolean): void {
    this.#internal.set(channel, Promise.resolve(internal))
  }

  /** Stores the name of a channel that came along with something else; one that is none changes nothing. */
  learnName(channel: unknown, name: unknown): void {
    const title = titleOf(name)
    if (typeof channel === 'string' && title !== undefined) this.#titles.set(channel, Promise.resolve(title))
  }

  /** Returns the title of a channel, or of a group of people; undefined where it cannot be asked, or has none. */
  async titleOf(channel: string): Promise<string | undefined> {
    if (channel.startsWith('D')) return undefined
    return this.#look(this.#titles, channel, async () => (await this.#askPlace(channel))?.title)
  }

  /** Mentions do not say it; all but a group direct chat can be known from the id or asked for. */
  async chatTypeOf(channel: string): Promise<ChatType> {
    if (channel.startsWith('D')) return 'direct'
    const ask = async () => (await this.#askPlace(channel))?.chatType
    return (await this.#look(this.#chats, channel, ask)) ?? 'channel'
  }

  /** Returns true if nobody of another workspace can be in the conversation; false where it cannot be asked. */
  async isInternal(channel: string): Promise<boolean> {
    const ask = async () => (await this.#askPlace(channel))?.internal
    return (await this.#look(this.#internal, channel, ask)) ?? false
  }

  #askPlace(channel: string): Promise<SlackPlace | undefined> {
    const asked = this.#places.get(channel) ?? this.#ask('conversations.info', { channel }, placeIn)
    this.#places.set(channel, asked)
    return asked.finally(() => this.#places.delete(channel))
  }

  #look<Value>(known: Known<Value>, id: string, ask: () => Promise<Value | undefined>): Promise<Value | undefined> {
    const found = known.get(id)
    if (found !== undefined) return found
    const value = ask()
    known.set(id, value)
    void value.then((answer) => {
      if (answer === undefined && known.peek(id) === value) known.set(id, value, { ttl: FAILURES_LAST_MS })
    })
    return value
  }

  async #ask<Value>(
    method: SlackMethod,
    args: Fields,
    read: (answer: Fields) => Value | undefined,
  ): Promise<Value | undefined> {
    const { client, signal } = this.#deps
    const outcome = await client.call(method, args, { deadlineMs: DEADLINE_MS, signal })
    return outcome.kind === 'answered' ? read(outcome.result) : undefined
  }
}

function personIn({ user }: Fields): SlackPerson | undefined {
  if (!isFields(user)) return undefined
  const profile = isFields(user.profile) ? user.profile : {}
  const { id, teams } = isFields(user.enterprise_user)
    ? { id: user.enterprise_user.enterprise_id, teams: user.enterprise_user.teams }
    : {}
  const inTeams = Array.isArray(teams) ? teams.filter((team) => typeof team === 'string') : []
  return {
    ...present('name', firstText([profile.display_name, profile.real_name, user.real_name, user.name])),
    ...present('username', firstText([user.name])),
    ...present('team', firstText([user.team_id])),
    isPerson: user.is_bot === false && user.is_workflow_bot !== true,
    ...(typeof id === 'string' ? { enterprise: { id, teams: inTeams } } : {}),
  }
}

function firstText(values: readonly unknown[]): string | undefined {
  return values.find((value): value is string => typeof value === 'string' && value !== '')
}

function placeIn({ channel }: Fields): SlackPlace | undefined {
  if (!isFields(channel)) return undefined
  const { is_im: isDirect, is_mpim: isGroup, is_ext_shared: isShared, name } = channel
  const chatType = isDirect === true ? 'direct' : isGroup === true ? 'group' : 'channel'
  const title = chatType === 'channel' ? name : chatType === 'group' ? membersIn(name) : undefined
  return { chatType, title: titleOf(title), internal: !isShared }
}

/** The name of a group of people is made of the names of their accounts: `mpdm-ada--bob--parley-1`. */
function membersIn(name: unknown): string | undefined {
  const [, names] = typeof name === 'string' ? (/^mpdm-(.+?)(?:-\d+)?$/.exec(name) ?? []) : []
  return names?.split('--').join(', ')
}
