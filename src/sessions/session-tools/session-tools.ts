import type { ToolReach } from '../../core/call-gate.ts'
import { ParleyError } from '../../core/errors.ts'
import type { Session } from '../../core/session.ts'
import type { HistoryAnswer, HistoryQuery, SessionCaller, SessionTools } from '../../core/session-tools.ts'
import { showsTitle } from '../../core/titles.ts'
import type { StoreReader } from '../../store/store.ts'
import { newestMessages } from '../service/read-messages.ts'
import { clamp } from './clamp.ts'
import { type ListDeps, listSessions } from './list-sessions.ts'
import { checkVerdict } from './reach.ts'
import { type SearchDeps, searchMessages } from './search-messages.ts'
import { type SendDeps, sendMessage, waitAgain } from './send-message.ts'
import { sessionNamed, shownKey } from './shown-key.ts'

const HISTORY = { fallback: 200, least: 1, most: 1000 }
/** The most bytes of one answer: less than a tool result may have, so that it is never cut in the middle. */
const HISTORY_BYTES = 80_000

export interface SessionToolsDeps extends ListDeps, SendDeps, SearchDeps {
  readonly read: StoreReader
}

/** Returns the session tools as a service, which the agent's tools and the API's clients both call. */
export function createSessionTools(deps: SessionToolsDeps): SessionTools {
  return {
    list: (query, caller) => listSessions(deps, query, caller),
    history: (query, caller) => history(deps, query, caller),
    search: (query, caller) => searchMessages(deps, query, caller),
    send: ({ sessionKey, ...request }, caller, signal) => sendMessage(deps, sessionKey, { request, caller, signal }),
    sendReach: (name, caller) => sendReach(deps, name, caller),
    wait: (request, caller, signal) => waitAgain(deps, request, caller, signal),
  }
}

async function sendReach(deps: SessionToolsDeps, name: string, caller: SessionCaller): Promise<ToolReach> {
  const { read, reach, owners } = deps
  const here = caller.turn && (await read.sessions.get(caller.turn.sessionId))
  if (here === undefined || !showsTitle(here)) return 'judged'
  const session = await sessionNamed(read.sessions, name, caller, owners)
  const elsewhere = session !== undefined && session.id !== here.id && session.parent !== here.id
  return elsewhere && (await (await reach.of(caller)).sends(session)).kind === 'allowed' ? 'beyond' : 'judged'
}

async function history(
  deps: SessionToolsDeps,
  { sessionKey, limit, includeTools = false }: HistoryQuery,
  caller: SessionCaller,
): Promise<HistoryAnswer> {
  const session = await reachable(deps, sessionKey, caller)
  const bounds = { limit: clamp(limit, HISTORY), tools: includeTools, bytes: HISTORY_BYTES }
  const { messages, truncated } = await newestMessages(deps.read, session, bounds)
  return {
    sessionKey: shownKey(session, caller),
    sessionId: session.id,
    messages,
    ...(truncated ? { truncated } : {}),
  }
}

/** Throws `not_found` for a session that does not exist and for one beyond reach, in the same words (S20). */
async function reachable(
  { read, reach, owners }: SessionToolsDeps,
  name: string,
  caller: SessionCaller,
): Promise<Session> {
  const session = await sessionNamed(read.sessions, name, caller, owners)
  if (checkVerdict(await (await reach.of(caller)).reads(session)) && session) return session
  throw new ParleyError('not_found', `There is no session ${name}.`)
}
