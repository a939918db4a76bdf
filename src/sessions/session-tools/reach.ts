import type { Caller, Namespace } from '../../core/caller.ts'
import { ParleyError } from '../../core/errors.ts'
import type { AgentId, PersonId } from '../../core/ids.ts'
import { type AuthorId, type Holder, holderIn, NOBODY, personOfAuthor } from '../../core/platform-id.ts'
import type { Role, Session } from '../../core/session.ts'
import type { SessionCaller } from '../../core/session-tools.ts'
import type { Principal } from '../../core/turn.ts'
import type { SessionQuery } from '../../store/session-port.ts'
import { type AuthorLookup, identityOfAuthor } from '../people/author-identity.ts'
import { ALLOWED, type Judged, judgeActing, judgeReading, judgeSending, type Verdict } from '../people/least-reach.ts'
import { type AccessPorts, reachedBy, reaches } from '../service/session-access.ts'
import { type TurnAuthority, type TurnAuthorityDeps, turnAuthority } from '../turns/turn-authority.ts'

/** The authority of callers over sessions; sessions beyond it do not exist for them (S20). */
export interface Reach {
  /** Looks up a caller's authority, for one call. */
  of(caller: SessionCaller): Promise<CallerReach>
}

type Among = Pick<SessionQuery, 'participants' | 'namespace'>

/** The authority of one caller, as it is during one call. An undefined session is one that does not exist. */
export interface CallerReach {
  /** The agents whose sessions the caller may reach; undefined for every agent (T32). */
  readonly agents: readonly AgentId[] | undefined
  /** Returns the part of a query by which the store leaves out what is beyond reach; empty for an owner. */
  among(): Promise<Among>
  reads(session: Session | undefined): Promise<Verdict>
  sends(session: Session | undefined): Promise<Verdict>
  /** Returns whether the caller's turn may begin work of its own in another session. */
  begins(): Promise<Verdict>
  /**
   * Returns true if the text of that session brings the caller's conversation no author who could lessen what it may
   * do.
   */
  adds(session: Session): Promise<boolean>
  /** Returns the authority of a message of the caller: the least of everybody behind it. */
  principal(): Promise<Principal>
  /** The people who read what comes back to the caller's conversation. */
  readonly readers: readonly AuthorId[]
}

export interface ReachDeps extends TurnAuthorityDeps, AuthorLookup {
  /** The agents that reach each other's sessions. */
  readonly agents: readonly AgentId[]
  readonly access: AccessPorts
  /** Returns the people for whom a token of a namespace may speak: its holder can have whatever they may read. */
  spokenFor(namespace: Namespace): readonly Principal[]
}

/** The names of the peers' catch-all sessions, which no tool shows or accepts (T5). */
const HIDDEN: readonly string[] = ['global', 'unknown']
const ABSENT: Verdict = { kind: 'absent' }

export function createReach(deps: ReachDeps): Reach {
  return {
    of: async (caller) =>
      caller.turn === undefined
        ? clientReach(deps, caller.principal)
        : new TurnReach(deps, caller.turn, await turnAuthority(deps, caller.turn)),
  }
}

/** Throws `forbidden` if it was denied; returns whether it is allowed. */
export function checkVerdict(verdict: Verdict): boolean {
  if (verdict.kind === 'denied') throw new ParleyError('forbidden', verdict.reason)
  return verdict.kind === 'allowed'
}

function clientReach({ access }: ReachDeps, principal: Principal): CallerReach {
  const caller: Caller = { kind: 'person', ...principal }
  const verdict = async (session: Session | undefined): Promise<Verdict> =>
    session && !HIDDEN.includes(session.displayKey) && (await reaches(caller, session, access)) ? ALLOWED : ABSENT
  return {
    agents: undefined,
    among: () => amongFor(caller, access),
    reads: verdict,
    sends: verdict,
    begins: async () => ALLOWED,
    adds: async () => false,
    principal: async () => principal,
    readers: [],
  }
}

async function amongFor(caller: Caller, access: AccessPorts): Promise<Among> {
  const { participants } = await reachedBy(caller, access)
  return participants === undefined ? {} : { participants }
}

type Turn = NonNullable<SessionCaller['turn']>

/** Least reach: readers of the answer bound what a turn may read, authors of its words what it may do. */
class TurnReach implements CallerReach {
  readonly agents: readonly AgentId[]
  readonly readers: readonly AuthorId[]
  readonly #deps: ReachDeps
  readonly #turn: Turn
  readonly #authority: TurnAuthority
  /** Looked up once: a list asks about every row. */
  readonly #spoken = new Map<Namespace, readonly Principal[]>()

  constructor(deps: ReachDeps, turn: Turn, authority: TurnAuthority) {
    this.#deps = deps
    this.#turn = turn
    this.#authority = authority
    this.agents = deps.agents.includes(turn.agentId) ? deps.agents : [turn.agentId]
    this.readers = authority.readers === 'shared' ? [] : authority.readers
  }

  /** The first reader who is no owner excludes most; the others are asked row by row. */
  async among(): Promise<Among> {
    const { readers } = this.#authority
    if (readers === 'shared') return { participants: [] }
    for (const reader of readers) {
      const holder = holderIn(reader)
      if (holder !== undefined) {
        if (this.#hasOwner(holder)) continue
        return { namespace: holder.namespace }
      }
      const caller = await this.#callerOf(reader)
      if (caller.role !== 'owner') return amongFor({ kind: 'person', ...caller }, this.#deps.access)
    }
    return readers.length === 0 ? { participants: [] } : {}
  }

  async reads(named: Session | undefined): Promise<Verdict> {
    const session = this.#visible(named)
    if (session?.id === this.#turn.sessionId || this.#isChild(session)) return ALLOWED
    const { readers } = this.#authority
    return foundOnly(session, judgeReading(readers === 'shared' ? readers : await this.#judged(readers, session)))
  }

  async sends(named: Session | undefined): Promise<Verdict> {
    const session = this.#visible(named)
    const { authors } = this.#authority
    if (this.#isChild(session)) return this.begins()
    const reached = session?.id === this.#turn.sessionId ? ALLOWED : await this.#reachesAll(authors, session)
    return reached.kind === 'allowed' ? judgeSending(await this.#known(authors)) : reached
  }

  /** A page that was read begins nothing by itself: the people of the conversation count. */
  async begins(): Promise<Verdict> {
    return judgeSending(await this.#known(this.#authority.authors.filter((author) => author !== NOBODY)))
  }

  /** A task holds nothing but what its parent gave it and what came of that. */
  #isChild(session: Session | undefined): boolean {
    return session?.parent === this.#turn.sessionId
  }

  async #reachesAll(authors: readonly AuthorId[], session: Session | undefined): Promise<Verdict> {
    // A message carries what is known here: who may not read it here may not send it on, not even to themselves.
    const here = await this.#deps.read.sessions.get(this.#turn.sessionId)
    const [reading, reaching] = await Promise.all([this.#judged(authors, here), this.#judged(authors, session)])
    const both = reaching.map(({ author, may }, at) => ({ author, may: may && reading[at]?.may === true }))
    return foundOnly(session, judgeActing(both))
  }

  #visible(session: Session | undefined): Session | undefined {
    const hidden = session === undefined || HIDDEN.includes(session.displayKey)
    return hidden || !this.agents.includes(session.agentId) ? undefined : session
  }

  async adds(session: Session): Promise<boolean> {
    if (session.id === this.#turn.sessionId) return false
    for (const author of await this.#deps.read.authors.of(session.id)) {
      if (this.#authority.authors.includes(author)) continue
      if ((await this.#callerOf(author)).role !== 'owner') return true
    }
    return false
  }

  async principal(): Promise<Principal> {
    const people = await Promise.all(this.#authority.authors.map((author) => this.#callerOf(author)))
    const role = LEAST_FIRST.find((one) => people.some((person) => person.role === one)) ?? 'guest'
    const [person, ...others] = new Set(people.map((one) => one.person))
    return person === undefined || others.length > 0 ? { role } : { person, role }
  }

  /** Somebody who is among them by several names is one person. */
  async #judged(authors: readonly AuthorId[], session: Session | undefined): Promise<readonly Judged[]> {
    const people = new Map<string, Judged>()
    for (const author of authors) {
      const name = holderIn(author) === undefined ? ((await this.#callerOf(author)).person ?? author) : author
      const before = people.get(name)
      const may = before?.may !== false && (await this.#mayReach(author, session))
      people.set(name, { author: before?.author ?? author, may })
    }
    return [...people.values()]
  }

  async #known(authors: readonly AuthorId[]): Promise<Parameters<typeof judgeSending>[0]> {
    const known = async (author: AuthorId) => (await this.#callerOf(author)).role !== 'guest'
    return Promise.all(authors.map(async (author) => ({ author, known: await known(author) })))
  }

  /** Only an owner may learn that a session does not exist: to everybody else it looks like one they may not reach. */
  async #mayReach(author: AuthorId, session: Session | undefined): Promise<boolean> {
    const holder = holderIn(author)
    if (holder !== undefined) return this.#holderReaches(holder, session)
    const caller = await this.#callerOf(author)
    if (session === undefined) return caller.role === 'owner'
    return reaches({ kind: 'person', ...caller }, session, this.#deps.access)
  }

  /** A token reaches its own sessions, and one that speaks has the agent say what the people it speaks for may ask. */
  async #holderReaches(holder: Holder, session: Session | undefined): Promise<boolean> {
    if (this.#hasOwner(holder)) return true
    if (session === undefined) return false
    const { access } = this.#deps
    if (await reaches({ kind: 'token', namespace: holder.namespace }, session, access)) return true
    const spoken = this.#spokenFor(holder)
    if (spoken.length === 0) return false
    // Thousands may have an id in a namespace, of whom a few take part.
    const here = new Set((await access.read.participants.of(session.id)).map((one) => this.#personOf(one)))
    for (const person of spoken)
      if (here.has(person.person) && (await reaches({ kind: 'person', ...person }, session, access))) return true
    return false
  }

  #personOf(participant: AuthorId): PersonId | undefined {
    return personOfAuthor(participant) ?? this.#deps.whoIs(participant).person
  }

  #hasOwner(holder: Holder): boolean {
    return this.#spokenFor(holder).some(({ role }) => role === 'owner')
  }

  #spokenFor({ namespace, speaks }: Holder): readonly Principal[] {
    if (!speaks) return []
    const known = this.#spoken.get(namespace) ?? this.#deps.spokenFor(namespace)
    this.#spoken.set(namespace, known)
    return known
  }

  #callerOf(author: AuthorId): Promise<Principal> {
    return identityOfAuthor(this.#deps, author)
  }
}

function foundOnly(session: Session | undefined, verdict: Verdict): Verdict {
  return session === undefined && verdict.kind === 'allowed' ? ABSENT : verdict
}

const LEAST_FIRST: readonly Role[] = ['guest', 'member', 'owner']
