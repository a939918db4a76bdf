import type { HonoRequest } from 'hono'
import { DOORS } from '../core/doors.ts'
import { errorCode, ParleyError, toError } from '../core/errors.ts'
import { readBytes, tooManyPieces } from '../core/read-bytes.ts'
import { type JsonBounds, readJson } from '../core/read-json.ts'
import { charsetIn, encodingOf } from '../core/read-text.ts'
import { TooManyRequests } from './errors.ts'

const CHAT = '/v1/chat/completions'
const NOTIFICATIONS = '/v1/notifications'
const HOOKS = '/v1/hooks/'

/** Returns the bounds of a body there. */
export function doorOf(path: string): JsonBounds {
  if (path === CHAT) return DOORS.chat
  if (path === NOTIFICATIONS) return DOORS.notification
  return path.startsWith(HOOKS) ? DOORS.hook : DOORS.api
}

const REMEDY = 'Send a JSON object.'

/** A charset that nobody knows, or of which all texts are UTF-8 too, says nothing against it. */
function checkCharset(contentType: string): void {
  const named = charsetIn(contentType)
  const encoding = encodingOf(named)
  if (encoding !== undefined && encoding !== 'utf-8' && !/ascii/i.test(named ?? ''))
    throw new ParleyError('invalid', `The header Content-Type says charset=${named}: send the JSON as UTF-8.`)
}

function jsonOf(bytes: Buffer, door: JsonBounds): unknown {
  try {
    return readJson(bytes, door)
  } catch (error) {
    const { message } = toError(error)
    // Its bytes fit: what is too much of it is its form, which a smaller body of the same kind would have as well.
    throw new ParleyError('invalid', errorCode(error) === 'too_long' ? message : `${message} ${REMEDY}`)
  }
}

const MB = 1024 * 1024
/** Bytes that all bodies of a server hold together, of the gigabyte that `systemd/parley.service` allows. */
const MOST = 192 * MB
/** Those of the tokens of namespaces and of whoever brings none, so that an owner's token always finds its own room. */
const MOST_SHARED = 128 * MB
/** Those of one token: three chats with pictures. */
const MOST_OF_ONE = 64 * MB
/** By then a request that was under way has often been answered. */
const AGAIN_S = 2

interface Room {
  readonly most: number
  readonly whose: string
  held: number
}

/**
 * Returns what gives each request room for its body. A body takes room as its bytes arrive, announced or not, until its
 * request has been answered: uploads that never end would fill the memory otherwise. `shared`: it counts among those of
 * namespaces; without a holder it always does.
 */
export function createBodyRoom(): (
  req: HonoRequest,
  holder: string | undefined,
  shared: boolean | undefined,
) => RequestBody {
  const all: Room = { most: MOST, whose: 'All requests', held: 0 }
  const namespaces: Room = { most: MOST_SHARED, whose: 'The tokens of namespaces', held: 0 }
  const holders = new Map<string, Room>()
  return (req, holder = '', shared = holder === '') => {
    const take = (bytes: number): void => {
      const own = holders.get(holder) ?? { most: MOST_OF_ONE, whose: 'The requests of a token', held: 0 }
      const rooms = shared ? [own, namespaces, all] : [own, all]
      const full = rooms.find(({ held, most }) => held + bytes > most)
      if (full !== undefined)
        throw new TooManyRequests(
          `${full.whose} may hold ${full.most} bytes together until they are answered; wait for one.`,
          AGAIN_S,
        )
      for (const room of rooms) room.held += bytes
      if (own.held > 0) holders.set(holder, own)
      else holders.delete(holder)
    }
    return new RequestBody(req, take)
  }
}

/** The body of a request. */
export class RequestBody {
  readonly #req: HonoRequest
  readonly #take: (bytes: number) => void
  #taken = 0
  #bytes: Promise<Buffer> | undefined

  /** `take` throws where there is no room for so many bytes more; a negative number gives room back. */
  constructor(req: HonoRequest, take: (bytes: number) => void) {
    this.#req = req
    this.#take = take
  }

  /**
   * Returns the bytes, to everybody who asks. A body that comes in chunks does not announce its length: throws
   * `too_long` as soon as it exceeds the limit, `too_many` as soon as there is no room for it, and `invalid` for one
   * that is compressed, that comes in too many pieces, or that broke off, of which nothing counts.
   */
  bytes(): Promise<Buffer> {
    this.#bytes ??= this.#read()
    return this.#bytes
  }

  /**
   * Returns the JSON object, and keeps the bytes no longer: a turn may take minutes. Throws `invalid` for any other
   * body, also for one of too many values or levels, and what `bytes` throws.
   */
  async object(): Promise<Readonly<Record<string, unknown>>> {
    const { path, raw } = this.#req
    checkCharset(raw.headers.get('content-type') ?? '')
    const value = jsonOf(await this.bytes(), doorOf(path))
    this.#bytes = undefined
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return value as Readonly<Record<string, unknown>>
    throw new ParleyError('invalid', REMEDY)
  }

  /** Gives its room back: the request has been answered. */
  release(): void {
    this.#take(-this.#taken)
    this.#taken = 0
  }

  async #read(): Promise<Buffer> {
    const { raw, path } = this.#req
    const encoding = raw.headers.get('content-encoding') ?? 'identity'
    if (encoding.trim().toLowerCase() !== 'identity')
      throw new ParleyError('invalid', 'The header Content-Encoding must be identity: send the body as it is.')
    try {
      return await readBytes(this.#pieces(raw.body), doorOf(path).bytes)
    } catch (error) {
      throw error instanceof ParleyError ? error : new ParleyError('invalid', 'The body broke off.')
    }
  }

  /** Leaves the rest of a body as it is: cancelled, its connection would end before the answer. */
  async *#pieces(body: Request['body']): AsyncIterable<Uint8Array> {
    let count = 0
    for await (const piece of body?.values({ preventCancel: true }) ?? []) {
      if (tooManyPieces(++count, this.#taken + piece.length))
        throw new ParleyError('invalid', 'The chunks of the body are too small: send it in larger ones.')
      this.#take(piece.length)
      this.#taken += piece.length
      yield piece
    }
  }
}
