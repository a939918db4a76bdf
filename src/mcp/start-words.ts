import { existsSync } from 'node:fs'
import { basename } from 'node:path'
import { toError } from '../core/errors.ts'
import type { McpAddress, McpProgram, McpServer } from '../core/mcp.ts'
import { shortWords } from './lenient.ts'
import type { ProgramEnd } from './program-transport.ts'

/** A start, or a list of tools, that failed. */
export interface FailedStart {
  readonly error: unknown
  readonly at: McpServer['at']
  readonly waitedMs: number
  /** The last lines that the program has printed; none by HTTP. */
  readonly printed?: readonly string[] | undefined
  /** The end of the program, if it has ended. */
  readonly ended?: ProgramEnd | undefined
}

/** The numbers of the library for its own errors, whose words say little to who reads the configuration. */
const CLOSED = -32_000
const TIMED_OUT = -32_001
/** Stands for the number of an error that the server has answered with. */
const SERVERS_OWN = 'own'
const LONGEST_SAID = 300

/** Returns the code of an error; servers use the numbers of the library for errors of their own, too. */
function libraryCode(error: unknown): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (typeof code !== 'number') return code
  const { message } = toError(error)
  const isLibrarys =
    (code === CLOSED && message.endsWith('Connection closed')) ||
    (code === TIMED_OUT && /(Request timed out|timeout exceeded)$/.test(message))
  return isLibrarys ? code : SERVERS_OWN
}

/** Returns true for the error of the library for a connection that has ended. */
export function isConnectionClosed(error: unknown): boolean {
  return libraryCode(error) === CLOSED
}

/** Returns why a server could not be started or asked, in one line with the remedy where it is known. */
export function startWords({ error, at, waitedMs, printed = [], ended }: FailedStart): string {
  const { message } = toError(error)
  const code = libraryCode(error)
  const late = `it did not answer within ${waitedMs / 1_000} s`
  const said = shortWords(message.replace(/^MCP error -?\d+: /, '').replace(/\s+/g, ' '), LONGEST_SAID)
  if (code === SERVERS_OWN) return at.kind === 'address' ? `${said}${addressRemedy(said, at)}` : said
  if (at.kind === 'address') return code === TIMED_OUT ? late : `${said}${addressRemedy(said, at)}`
  if (code === CLOSED) return endWords(`${nameOf(at)} ended${howWords(ended)} before it answered`, printed, ended)
  if (ended !== undefined) return endWords(`${nameOf(at)} ended${howWords(ended)}`, printed, ended)
  if (code === TIMED_OUT) return `${late}; ${lateCause(printed)}`
  return refusalWords(at, code) ?? said
}

/** Returns what to look at where a server by HTTP does not answer as one. */
function addressRemedy(said: string, { headers }: McpAddress): string {
  const token = Object.keys(headers).some((name) => name.toLowerCase() === 'authorization')
  if (token && /answers 40[13]\b/.test(said))
    return '; it does not take headers.authorization: check the token, and that a word such as Bearer stands before it'
  if (/answers (404|405)\b|text\/html/.test(said))
    return '; check the path of url (often /mcp, with older servers /sse)'
  return /refuses the connection/.test(said) ? ' Is it running? Check the port of url.' : ''
}

/** Words for a program that the system did not start. */
function refusalWords({ command, folder }: McpProgram, code: unknown): string | undefined {
  // The system says the same of a folder that is missing.
  if (code === 'ENOENT' && folder !== undefined && !existsSync(folder))
    return `there is no folder ${folder} to start it in`
  if (code === 'ENOENT' && command.includes('/') && existsSync(command))
    return `the program that the first line of ${command} names is not there`
  if (code === 'ENOENT')
    return `there is no program ${command} in PATH; install it, or write its whole path as command${hintOf(command)}`
  if (code === 'EACCES') return `this user may not run ${command}, or not enter the folder it is started in`
  if (code === 'ENOEXEC') return `${command} is no program for this machine`
  if (code === 'E2BIG') return 'its args and env are longer than the system takes'
  return undefined
}

/** A service has a shorter PATH than a terminal. */
function hintOf(command: string): string {
  if (/^uvx?$/.test(command)) return ' (often ~/.local/bin/uvx, which a service has not in its PATH)'
  return /^(docker|podman)$/.test(command) ? ' (a container has none of the programs of its host)' : ''
}

function endWords(end: string, printed: readonly string[], ended: ProgramEnd | undefined): string {
  const cause = causeIn(printed) ?? causeOf(ended) ?? lastError(printed)
  return cause === undefined ? end : `${end}: ${cause}`
}

const nameOf = ({ command }: McpProgram): string => basename(command)

function howWords(ended: ProgramEnd | undefined): string {
  if (ended === undefined) return ''
  return ended.signal === null ? ` with code ${ended.code}` : ` by ${ended.signal}`
}

function causeOf(ended: ProgramEnd | undefined): string | undefined {
  const { code, signal } = ended ?? {}
  if (signal === 'SIGKILL' || code === 137) return 'it was killed from outside, as systems do when memory runs out'
  if (code === 127) return 'a program that it starts itself is not in PATH'
  if (code === 126) return 'a program that it starts itself may not be run by this user'
  return undefined
}

function lateCause(printed: readonly string[]): string {
  const cause = causeIn(printed)
  if (cause !== undefined) return cause
  const url = printed.map((line) => HTTP.exec(line)?.[0]).find((found) => found !== undefined)
  if (url !== undefined)
    return `it serves HTTP: start it with its option for stdio, or name its address as url (it printed ${url})`
  if (printed.some((line) => /^content-length: *\d/i.test(line)))
    return 'it writes headers before its messages, as language servers do, which the protocol does not have'
  if (printed.some((line) => /\(y(es)?(\/n(o)?)?\)\s*:?\s*$|\[y\/n\]\s*:?\s*$/i.test(line)))
    return `it asks a question that nobody answers; look for its option to agree at once (${printed.at(-1)})`
  const last = printed.at(-1)
  if (last === undefined) return 'one that downloads itself first, as with npx, may answer at the next try'
  return `one that downloads itself first, as with npx, may answer at the next try; it printed last: ${last}`
}

/** An address that a server on this machine names as its own. */
const HTTP = /https?:\/\/(localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1?\])(:\d+)?[^\s"'),]*/

/** The causes by what `npm` says as its code. */
const NPM: Readonly<Record<string, string>> = {
  E404: 'npm knows no such package; check its name under args (a private one needs its registry in .npmrc)',
  ETARGET: 'npm knows no such version of the package; check it under args',
  ENOVERSIONS: 'npm knows no version of the package; check its name under args',
  E401: 'the registry of npm wants a login for the package; check .npmrc',
  E403: 'the registry of npm refuses the package; check its name and .npmrc',
  EACCES: 'npm may not write into its cache; set npm_config_cache under env to a folder of this user',
  EPERM: 'npm may not write into its cache; set npm_config_cache under env to a folder of this user',
  EROFS: 'npm may not write into its cache; set npm_config_cache under env to a folder of this user',
  EEXIST: 'the cache of npm holds files of another user; set npm_config_cache under env to a folder of this user',
  ENOSPC: 'the disk is full',
  EINTEGRITY: 'the package came damaged; try again after npm cache clean --force',
  EBADENGINE: 'the package needs another version of Node',
  EBADPLATFORM: 'the package is not made for this system',
  ENOTCACHED: 'the package is not in the cache of npm, and npm is told to stay offline',
  ENOENT: 'npm does not find a folder it needs; set npm_config_cache and HOME under env to folders of this user',
}

const OFFLINE =
  'its registry cannot be reached; behind a proxy, give HTTPS_PROXY under env; without a network, install the package and name its program as command'
const DOCKER = 'check that it runs, and that this user may use it'

/** The causes by lines that programs print; the first that is found counts. */
const CAUSES: readonly (readonly [RegExp, string])[] = [
  [
    /^(\S*sh): .*(jsonrpc|method)/,
    'npx has opened a shell: args names no package, or has several arguments in one; write each as an entry of its own',
  ],
  [
    /could not determine executable to run/,
    'the package has several programs or none: args [-y, --package, its name, a program]',
  ],
  [
    /\b(ENOTFOUND|EAI_AGAIN|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ECONNRESET|ERR_SOCKET_TIMEOUT)\b.*registry|npm (ERR!|error) network/,
    OFFLINE,
  ],
  [
    /SELF_SIGNED_CERT|UNABLE_TO_(GET|VERIFY)|unable to get (local )?issuer certificate|invalid peer certificate/,
    'a certificate is not trusted; NODE_EXTRA_CA_CERTS (uvx: SSL_CERT_FILE) under env names that of your own authority',
  ],
  [
    /was not found in the package registry|No solution found when resolving/,
    'uv knows no such package or version; check it under args',
  ],
  [/error sending request for url|Failed to fetch: `https?:|dns error/, OFFLINE],
  [
    /Cannot connect to the Docker daemon|permission denied while trying to connect to the .*docker/i,
    `docker cannot be used; ${DOCKER}`,
  ],
  [/the input device is not a TTY/, 'docker has no terminal here; write -i in place of -it under args'],
  [
    /pull access denied|manifest (for .* )?(unknown|not found)|repository does not exist/i,
    'there is no such image; check its name under args, and docker login',
  ],
  [/heap out of memory/, 'its memory ran out; NODE_OPTIONS: --max-old-space-size=… under env gives it more'],
]

function causeIn(printed: readonly string[]): string | undefined {
  for (const line of printed) {
    const code = /^npm (?:ERR!|error)\s+code:?\s+'?(\w+)/.exec(line)?.[1]
    if (code === undefined) continue
    const known = NPM[code] ?? (OFFLINE_CODE.test(code) ? OFFLINE : undefined)
    if (known !== undefined) return known
  }
  return CAUSES.find(([form]) => printed.some((line) => form.test(line)))?.[1]
}

const OFFLINE_CODE =
  /^(ENOTFOUND|EAI_AGAIN|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ECONNREFUSED|ECONNRESET|ERR_SOCKET_TIMEOUT)$/

const ERROR = /error\b.*:|exception\b.*:|cannot find|not found|no such|missing|required|invalid|denied/i

/** Returns the line that says most likely what was wrong: the last that names an error, else the last. */
function lastError(printed: readonly string[]): string | undefined {
  const told = printed.filter((line) => !line.includes('A complete log of this run'))
  return told.findLast((line) => ERROR.test(line)) ?? told.at(-1)
}
