import {
  closeSync,
  existsSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import type { OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js'
import * as z from 'zod'
import { type Clock, sleep } from '../../core/clock.ts'
import { ParleyError, toError } from '../../core/errors.ts'
import { isFull } from '../../core/full-disk.ts'
import { type PrivateFolder, privateFile, privateFolder } from '../../platform/private-folder.ts'
import type { Challenge } from './challenge.ts'
import { loginCommand } from './login-error.ts'

const LOGIN = z.object({
  /** The address of the tool server: a token is sent to no other. */
  url: z.string(),
  /** The authorization server, and what it says of itself. */
  issuer: z.string(),
  metadata: z.record(z.string(), z.unknown()),
  client: z.object({ client_id: z.string(), client_secret: z.string().optional() }).loose(),
  resource: z.string().optional(),
  /** Absent: the login has ended. */
  tokens: z
    .object({ access_token: z.string(), refresh_token: z.string().optional(), scope: z.string().optional() })
    .optional(),
  /** Ms since the epoch, after which the token is worth nothing. */
  expiresAt: z.number().optional(),
  /** The scopes that were asked for; those of `tokens` may be fewer, or the same by other names. */
  asked: z.string().optional(),
  /** The login was made because of a challenge for a further scope that did not name it. */
  forUnnamed: z.literal(true).optional(),
})

const WANTED = z.object({
  url: z.string(),
  kind: z.enum(['login', 'scope']),
  resourceMetadata: z.string().exactOptional(),
  scope: z.string().exactOptional(),
})

/** A login at a tool server. All of it is secret. */
export type Login = z.output<typeof LOGIN>

/** Returns the part of a login that an authorization server has given. */
export function keptTokens(
  { access_token, refresh_token, expires_in, scope }: OAuthTokens,
  clock: Clock,
  asked: string | undefined,
): Pick<Login, 'tokens' | 'expiresAt'> {
  // The error of a header that cannot be sent would have the token in it.
  if (![access_token, refresh_token ?? access_token].every((token) => SENDABLE.test(token)))
    throw new ParleyError('unavailable', 'The authorization server gave a token that no request can carry.')
  const granted = scope ?? asked
  return {
    tokens: { access_token, ...(refresh_token && { refresh_token }), ...(granted && { scope: granted }) },
    ...(expires_in === undefined ? {} : { expiresAt: clock.now() + Math.min(expires_in * 1_000, LONGEST_MS) }),
  }
}

const SENDABLE = /^[\x21-\x7e]+$/
/** A thousand years; what is longer may be no number any more. */
const LONGEST_MS = 1_000 * 365 * 86_400_000

const FOLDER = 'mcp-logins'
/** Returns true for a path, from the state folder on, at which only a login is kept. */
export function isOfLogin(path: string): boolean {
  return /^mcp-logins\/[\w-]+\.(?:json|json\.next|wanted|wanted\.next|lock)$/.test(path)
}

const LOCK_MS = 60_000
const ASK_AGAIN_MS = 100
/** Bytes of a login with long tokens. */
const ROOM = 64 * 1024

/** Takes a lock that one process has at a time, and that ends with it; returns undefined if it is held. */
export type LockFile = (file: string, folder: PrivateFolder) => { release(): void } | undefined

/**
 * The logins at tool servers, one file each, which nobody but the owner of the folder can read. They are read anew each
 * time, since another process of Parley may have changed them.
 */
export class Logins {
  readonly #dataDir: string
  readonly #clock: Clock
  readonly #lockFile: LockFile
  readonly #last = new Map<string, Promise<unknown>>()

  constructor(dataDir: string, clock: Clock, lockFile: LockFile) {
    this.#dataDir = dataDir
    this.#clock = clock
    this.#lockFile = lockFile
  }

  /** Returns the login at that address of a server. Throws `config` for a file that cannot be used. */
  read(server: string, url: string): Login | undefined {
    if (!existsSync(join(this.#dataDir, FOLDER))) return undefined
    const folder = this.#folder()
    const path = pathOf(folder, server)
    privateFile(path, folder, 'existing')
    const text = readIfThere(path)
    if (text === undefined) return undefined
    const { data } = LOGIN.safeParse(parsed(text))
    if (data === undefined)
      throw new ParleyError('config', `${path} is no login. Remove it, and run: ${loginCommand(server)}`)
    return data.url === url ? data : undefined
  }

  /**
   * Takes the room that a login needs on the disk, for the next `write`: an authorization server often takes a token
   * back that it has renewed, and what it gives instead could not be kept. Called `alone`. Throws `unavailable`.
   */
  reserve(server: string): void {
    const folder = this.#folder()
    const next = nextOf(folder, server)
    kept(() => {
      rmSync(next, { force: true })
      privateFile(next, folder)
      putInto(next, ' '.repeat(ROOM))
    })
  }

  /** Replaces the file as a whole: a crash leaves the one or the other. Called `alone`. Throws `unavailable`. */
  write(server: string, login: Login): void {
    const folder = this.#folder()
    const next = nextOf(folder, server)
    kept(() => {
      privateFile(next, folder)
      putInto(next, JSON.stringify(login))
      renameSync(next, pathOf(folder, server))
    })
  }

  /** Removes a login, and what was asked for. Returns false where there is no login. */
  remove(server: string): boolean {
    const folder = this.#folder()
    const path = pathOf(folder, server)
    const there = readIfThere(path) !== undefined
    for (const one of [path, nextOf(folder, server), wantedOf(folder, server)]) rmSync(one, { force: true })
    return there
  }

  /** Returns what the server at that address has asked for since its last login. */
  wanted(server: string, url: string): Challenge | undefined {
    if (!existsSync(join(this.#dataDir, FOLDER))) return undefined
    const folder = this.#folder()
    privateFile(wantedOf(folder, server), folder, 'existing')
    const { data } = WANTED.safeParse(parsed(readIfThere(wantedOf(folder, server)) ?? ''))
    if (data?.url !== url) return undefined
    const { url: _url, ...challenge } = data
    return challenge
  }

  /** Keeps what the server at that address asks for, until a login has it. Called `alone`. Throws `unavailable`. */
  want(server: string, url: string, challenge: Challenge): void {
    const folder = this.#folder()
    const [path, next] = [wantedOf(folder, server), `${wantedOf(folder, server)}.next`]
    const text = JSON.stringify({ url, ...challenge })
    if (readIfThere(path) === text) return
    kept(() => {
      privateFile(next, folder)
      putInto(next, text)
      renameSync(next, path)
    })
  }

  /** Forgets what the server has asked for: a login has it now. Called `alone`. */
  met(server: string): void {
    rmSync(wantedOf(this.#folder(), server), { force: true })
  }

  /** Runs `work` while no other one of this server runs, here or in another process. Throws `unavailable`. */
  async alone<Result>(server: string, work: () => Promise<Result>): Promise<Result> {
    const before = this.#last.get(server) ?? Promise.resolve()
    const mine = before.catch(() => undefined).then(() => this.#locked(server, work))
    this.#last.set(server, mine)
    return mine
  }

  async #locked<Result>(server: string, work: () => Promise<Result>): Promise<Result> {
    const lock = await this.#lock(server)
    try {
      return await work()
    } finally {
      lock.release()
    }
  }

  async #lock(server: string) {
    const folder = this.#folder()
    for (let waited = 0; waited <= LOCK_MS; waited += ASK_AGAIN_MS) {
      const lock = this.#lockFile(join(folder.path, `${server}.lock`), folder)
      if (lock !== undefined) return lock
      await sleep(this.#clock, ASK_AGAIN_MS)
    }
    throw new ParleyError('unavailable', 'Another process renews the login.')
  }

  #folder(): PrivateFolder {
    return privateFolder(join(privateFolder(this.#dataDir).path, FOLDER))
  }
}

function pathOf({ path }: PrivateFolder, server: string): string {
  return join(path, `${server}.json`)
}

/** The name of a login that is not in force yet. */
function nextOf(folder: PrivateFolder, server: string): string {
  return `${pathOf(folder, server)}.next`
}

/** The name of what a server asks for; no server's own name has a dot in it. */
function wantedOf({ path }: PrivateFolder, server: string): string {
  return join(path, `${server}.wanted`)
}

/** Overwrites a file in the room that it has. */
function putInto(path: string, text: string): void {
  const file = openSync(path, 'r+')
  try {
    writeFileSync(file, text)
    ftruncateSync(file, Buffer.byteLength(text))
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

/** Without words of its own it would be taken for an error of the authorization server. */
function kept(write: () => void): void {
  try {
    write()
  } catch (cause) {
    if (cause instanceof ParleyError) throw cause
    const why = isFull(cause) ? 'The disk is full; free some space' : 'The disk takes no login'
    throw new ParleyError('unavailable', `${why}: ${toError(cause).message}.`, { cause })
  }
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
