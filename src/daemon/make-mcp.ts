import { namesOfPlace } from '../approvals/place-of.ts'
import type { Config, McpSettings } from '../config/config.ts'
import type { Secret } from '../config/secrets.ts'
import type { AgentProfile } from '../core/agent-profile.ts'
import { type Clock, systemClock } from '../core/clock.ts'
import { ParleyError } from '../core/errors.ts'
import { type Logger, silentLogger } from '../core/logger.ts'
import { type LoggedIn, type LoginTalk, type McpAddress, type McpCheck, type McpServer, mcpGroup } from '../core/mcp.ts'
import type { AsksPeople } from '../core/question.ts'
import type { SessionIdentity } from '../core/session.ts'
import { checkServer } from '../mcp/check-server.ts'
import type { ConnectionDeps } from '../mcp/connection.ts'
import { isExempt } from '../mcp/login/challenge.ts'
import type { LoggedOut } from '../mcp/login/log-in.ts'
import { hasOwnAuthorization, loginFetch } from '../mcp/login/login-fetch.ts'
import { Logins } from '../mcp/login/logins.ts'
import { endMarked, markOfStore, type ProcessMark } from '../mcp/marked-processes.ts'
import { createMcpTools, type McpTools } from '../mcp/server-tools.ts'
import { lockFile } from '../store/engines/sqlite-lock.ts'
import type { Store } from '../store/store.ts'
import { createDoor } from '../web/door.ts'
import { doorFetch } from '../web/door-fetch.ts'
import { textRedactor } from './text-redactor.ts'

interface WayParts {
  readonly clock: Clock
  readonly logger: Logger
  readonly version: string
}

interface McpParts extends WayParts {
  readonly config: Servers & Pick<Config, 'store'>
  readonly store: Pick<Store, 'read'>
  readonly questions: AsksPeople
}

/** Bytes of one answer of a server, and of one of an authorization server. */
const MOST_BYTES = 20_000_000
const MOST_OF_LOGIN = 256_000
/** Each call has its own limit, which stands still while a person is asked: this one ends what nobody ended. */
const ANSWER_MS = 86_400_000

/** Returns the tools of the configured servers; those that are reached by HTTP are asked through the door. */
export function makeMcp({ config, store, questions, ...parts }: McpParts): McpTools {
  const logins = new Logins(config.dataDir, parts.clock, lockFile)
  const mark = markOfStore(config.store.path)
  const marked = (server: McpSettings): McpServer => withMark(revealed(server), mark)
  const tools = createMcpTools((config.mcp ?? []).map(marked), {
    ...wayTo(config, parts),
    people: questions,
    async namesOfPlace(id) {
      const session = await store.read.sessions.get(id)
      return session && namesOfPlace(store.read, session)
    },
  })
  const isWanted = (name: string): boolean =>
    (config.mcp ?? []).some((one) => one.name === name && wantsLogin(one, logins))
  return {
    ...tools,
    states: () =>
      new Map(
        [...tools.states()].map(([name, state]) => [name, isWanted(name) ? { ...state, wantsLogin: true } : state]),
      ),
  }
}

function wantsLogin({ name, at }: McpSettings, logins: Logins): boolean {
  try {
    return at.kind === 'address' && !hasOwnAuthorization(at) && logins.wanted(name, at.url) !== undefined
  } catch {
    // A folder that cannot be used is said where a login is used.
    return false
  }
}

type Servers = Pick<Config, 'mcp' | 'dataDir' | 'secrets' | 'ofService'>

/**
 * Ends what the tool servers of a killed daemon have left running. The lock of the store is held by then: nobody else
 * can have started what carries its mark.
 */
export async function endLeftovers(
  { store }: Pick<Config, 'store'>,
  { clock, logger }: Pick<WayParts, 'clock' | 'logger'>,
): Promise<void> {
  const mark = markOfStore(store.path)
  const processes = mark === undefined ? 0 : await endMarked(mark, clock)
  if (processes > 0) logger.warn('Processes that tool servers of a killed daemon had left were ended', { processes })
}

function withMark(server: McpServer, mark: ProcessMark | undefined): McpServer {
  const { at } = server
  if (at.kind === 'address' || mark === undefined) return server
  return { ...server, at: { ...at, env: { ...at.env, [mark.name]: mark.value } } }
}

/** Returns the work of an operator on tool servers, for a process beside the daemon. */
export function createMcpOperator(version: string) {
  return {
    test: (config: Servers, server: string) => testMcp(config, server, version),
    endPrograms: async () => (await import('../mcp/program-transport.ts')).endPrograms(),
    login: loginMcp,
    logout: logoutMcp,
  }
}

/** The user of the service may have changed such a program, which root would run with all its rights. */
export const OF_SERVICE = 'its program is run by the service alone'

/**
 * Asks one of the configured servers for its tools. Throws `not_found` and `unavailable`, and `forbidden` for a program
 * of the service.
 */
async function testMcp(config: Servers, name: string, version: string): Promise<McpCheck> {
  const server = named(config, name)
  if (config.ofService && server.at.kind === 'program') throw new ParleyError('forbidden', `${name}: ${OF_SERVICE}.`)
  const parts = { clock: systemClock, logger: silentLogger, version }
  return checkServer(revealed(server), wayTo(config, parts))
}

/** Logs in at one of the configured servers. Throws in words for the operator. */
export async function loginMcp(config: Servers, name: string, talk: LoginTalk): Promise<LoggedIn> {
  const { logIn } = await import('../mcp/login/log-in.ts')
  const at = addressOf(config, name)
  const clock = systemClock
  return logIn(name, at, talk, {
    clock,
    logins: new Logins(config.dataDir, clock, lockFile),
    fetch: loginDoor(at, clock),
  })
}

/** Forgets the login at one of the configured servers. Throws `not_found`. */
async function logoutMcp(config: Servers, name: string): Promise<LoggedOut> {
  const { logOut } = await import('../mcp/login/log-in.ts')
  const at = addressOf(config, name)
  const logins = new Logins(config.dataDir, systemClock, lockFile)
  return logOut(name, at.url, { logins, fetch: loginDoor(at, systemClock) })
}

function named({ mcp = [] }: Pick<Config, 'mcp'>, name: string): McpSettings {
  const server = mcp.find((one) => one.name === name)
  if (server !== undefined) return server
  const known = mcp.length === 0 ? 'there is none under tools.mcp' : `known: ${mcp.map((one) => one.name).join(', ')}`
  throw new ParleyError('not_found', `There is no tool server ${name}; ${known}.`)
}

function addressOf(config: Pick<Config, 'mcp'>, name: string): McpAddress {
  const { at } = revealed(named(config, name))
  if (at.kind === 'address') return at
  throw new ParleyError('invalid', `${name} is a program that is started here; one logs in at a server with a url.`)
}

function wayTo(config: Servers, { clock, logger, version }: WayParts): ConnectionDeps {
  const { dataDir } = config
  const fetch = doorFetch(createDoor({ clock, withinMs: ANSWER_MS, most: MOST_BYTES }).open)
  const logins = new Logins(dataDir, clock, lockFile)
  const fetchOf = ({ name, at }: McpServer): typeof globalThis.fetch =>
    at.kind === 'program' ? fetch : loginFetch(name, at, { clock, logins, fetch, authFetch: loginDoor(at, clock) })
  return { clock, logger: logger.child({ subsystem: 'mcp' }), fetchOf, version, redact: textRedactor(config) }
}

/** Returns the way to what a server names for a login. */
function loginDoor({ url }: McpAddress, clock: Clock): typeof globalThis.fetch {
  const door = createDoor({ clock, most: MOST_OF_LOGIN })
  return doorFetch(door.ask, (asked) => isExempt(url, asked))
}

function revealed({ at, ...server }: McpSettings): McpServer {
  if (at.kind === 'program') return { ...server, at: { ...at, env: values(at.env) } }
  const { login, ...address } = at
  const { clientSecret, ...own } = login ?? {}
  const secret = clientSecret === undefined ? {} : { clientSecret: clientSecret.reveal() }
  return { ...server, at: { ...address, headers: values(at.headers), login: { ...own, ...secret } } }
}

function values(secrets: Readonly<Record<string, Secret>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(secrets).map(([name, secret]) => [name, secret.reveal()]))
}

/**
 * Returns the rule for which sessions have an agent whose tools are described by a server that the operator does not
 * trust. Each such server counts, also one that cannot be reached: the rule must not depend on a moment.
 */
export function describedByOthers(
  { mcp = [] }: Pick<Config, 'mcp'>,
  agent: (session: SessionIdentity) => Pick<AgentProfile, 'tools'>,
): (session: SessionIdentity) => boolean {
  const groups = new Set(
    mcp.filter(({ at, trusted }) => at.kind === 'address' && !trusted).map(({ name }) => mcpGroup(name)),
  )
  return groups.size === 0 ? () => false : (session) => agent(session).tools.some((group) => groups.has(group))
}
