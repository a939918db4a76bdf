import type { ChatType } from '../../../src/core/address.ts'
import type { Clock } from '../../../src/core/clock.ts'
import type { SlackClient } from '../connection/client.ts'
import { type Fields, isFields } from './fields.ts'

interface Known<Value> {
  readonly value: Promise<Value | undefined>
  readonly until: number
}

interface DirectoryParts {
  readonly client: SlackClient
  readonly clock: Clock
  readonly signal: AbortSignal
}

/** An event is acknowledged within 3 s or it comes again: looking things up may take only a part of that. */
const DEADLINE_MS = 1000
const PEOPLE_LAST_MS = 60 * 60_000
const FAILURES_LAST_MS = 60_000
const MOST_KNOWN = 5000
/** People who are looked up at a time: hundreds of calls at once would hold up everybody's messages. */
const MOST_ASKED = 20

/** What the platform knows of a user. */
interface SlackPerson {
  readonly name?: string
  readonly team?: string
}

/** What events leave out: what people are called, whose they are, and what kind of conversation a mention stands in. */
export class Directory {
  readonly #parts: DirectoryParts
  readonly #people = new Map<string, Known<SlackPerson>>()
  readonly #chats = new Map<string, Known<ChatType>>()
  #asking = 0

  constructor(parts: DirectoryParts) {
    this.#parts = parts
  }

  /** Undefined when it cannot be asked, or too many are asked for: it is then looked up at the next message. */
  personOf(user: string): Promise<SlackPerson | undefined> {
    const known = this.#people.get(user)
    if (this.#asking >= MOST_ASKED && !this.#isFresh(known)) return known?.value ?? Promise.resolve(undefined)
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

  #isFresh(known: Known<unknown> | undefined): boolean {
    return known !== undefined && known.until > this.#parts.clock.now()
  }

  /** What an event said of its conversation. */
  learnChat(channel: string, chatType: ChatType): void {
    this.#remember(this.#chats, channel, { value: Promise.resolve(chatType), until: Number.POSITIVE_INFINITY })
  }

  /** Mentions do not say it; all but a group direct chat can be told by the id or asked. */
  async chatTypeOf(channel: string): Promise<ChatType> {
    if (channel.startsWith('D')) return 'direct'
    const ask = () => this.#ask('conversations.info', { channel }, chatTypeIn)
    return (await this.#look(this.#chats, channel, ask)) ?? 'channel'
  }

  #look<Value>(
    known: Map<string, Known<Value>>,
    id: string,
    ask: () => Promise<Value | undefined>,
  ): Promise<Value | undefined> {
    const { clock } = this.#parts
    const found = known.get(id)
    if (found !== undefined && this.#isFresh(found)) return found.value
    const value = ask()
    this.#remember(known, id, { value, until: clock.now() + PEOPLE_LAST_MS })
    void value.then((answer) => {
      if (answer === undefined) this.#remember(known, id, { value, until: clock.now() + FAILURES_LAST_MS })
    })
    return value
  }

  #remember<Value>(known: Map<string, Known<Value>>, id: string, entry: Known<Value>): void {
    known.delete(id)
    known.set(id, entry)
    const oldest = known.keys().next().value
    if (known.size > MOST_KNOWN && oldest !== undefined) known.delete(oldest)
  }

  async #ask<Value>(
    method: string,
    args: Fields,
    read: (answer: Fields) => Value | undefined,
  ): Promise<Value | undefined> {
    const { client, signal } = this.#parts
    const outcome = await client.call(method, args, { deadlineMs: DEADLINE_MS, signal })
    return outcome.kind === 'answered' ? read(outcome.result) : undefined
  }
}

function personIn({ user }: Fields): SlackPerson | undefined {
  if (!isFields(user)) return undefined
  const profile = isFields(user.profile) ? user.profile : {}
  const name = firstText([profile.display_name, profile.real_name, user.real_name, user.name])
  const team = firstText([user.team_id])
  return { ...(name === undefined ? {} : { name }), ...(team === undefined ? {} : { team }) }
}

function firstText(values: readonly unknown[]): string | undefined {
  return values.find((value): value is string => typeof value === 'string' && value !== '')
}

function chatTypeIn({ channel }: Fields): ChatType | undefined {
  if (!isFields(channel)) return undefined
  if (channel.is_im === true) return 'direct'
  return channel.is_mpim === true ? 'group' : 'channel'
}
