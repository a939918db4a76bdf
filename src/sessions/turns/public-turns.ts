import type { Namespace } from '../../core/caller.ts'
import type { SessionId, TurnId } from '../../core/ids.ts'
import type { StoreWriter } from '../../store/store.ts'
import type { StartedTurn } from './started-turn.ts'

/** The limits for turns of people whom the agent talks to only because it talks to anybody. */
export interface PublicTurnLimits {
  /** The most turns for all of them that run at a time. */
  readonly atOnce: number
  /** The most turns for one of them that run at a time, in all conversations. */
  readonly perPerson: number
  /** The most turns that wait for one that runs to end. */
  readonly waiting: number
}

export const DEFAULT_PUBLIC_TURNS: PublicTurnLimits = { atOnce: 8, perPerson: 1, waiting: 16 }

/**
 * The turns of people whom nobody let in by name, in memory: some run at a time, a few wait, the others are refused.
 * Other turns are not counted and wait for none of these.
 */
export interface PublicTurns {
  /**
   * Returns false if so many run and wait that another turn of this person is refused. `client`: the namespace of the
   * token that speaks for them; it names people as it likes, so all of its people have half of the places together,
   * and those of all clients three quarters.
   */
  admits(person: string, client?: Namespace): boolean
  /** Reserves a place for a turn, inside the transaction that claims it. */
  enter(turn: StartedTurn, tx: Pick<StoreWriter, 'afterUndo'>): void
  /**
   * Called at boot for a turn that will ask later whether it may run. It has no place until then; a `hurry` is
   * remembered.
   */
  expect(turn: StartedTurn): void
  /**
   * Resolves when the turn may run, when `signal` aborts, or when `close` is called. Returns true if the turn had to
   * wait.
   */
  waitForPlace(turn: StartedTurn, signal: AbortSignal): Promise<boolean>
  /** Called when a known person waits behind the turn of this session: it runs at once. */
  hurry(session: SessionId): void
  /** Called when the turn has ended. */
  left(turn: TurnId): void
  /** Called when the daemon is being stopped: no turn waits any longer. */
  close(): void
}

/**
 * `expected`: it has not asked for its place yet. `hurried`: it has not asked either, and will not wait when it does.
 */
type PlaceState = 'expected' | 'hurried' | 'waiting' | 'running'

interface Place {
  readonly person: string
  readonly client: string | undefined
  readonly session: SessionId
  state: PlaceState
  go(): void
}

interface Count {
  running: number
  waiting: number
}

export function createPublicTurns(limits: PublicTurnLimits): PublicTurns {
  const { atOnce } = limits
  const places = new Map<TurnId, Place>()
  const { all, count, mayStart, mayWait } = createCounts(limits)
  let closed = false
  const put = (place: Place, state: PlaceState): void => {
    count(place, -1)
    place.state = state
    count(place, 1)
    if (state === 'running') place.go()
  }
  const startNext = (): void => {
    for (const place of places.values()) {
      if (all.running >= atOnce) return
      if (place.state === 'waiting' && mayStart(place.person, place.client)) put(place, 'running')
    }
  }
  const leave = (turn: TurnId): void => {
    const place = places.get(turn)
    if (place === undefined) return
    places.delete(turn)
    count(place, -1)
    startNext()
  }
  const expect = ({ id, session, publicFor = '', publicBy }: StartedTurn): Place => {
    const known = places.get(id)
    if (known !== undefined) return known
    const client = publicBy && clientKey(publicBy)
    const place: Place = { person: publicFor, client, session: session.id, state: 'expected', go() {} }
    places.set(id, place)
    return place
  }
  const enter = (turn: StartedTurn): Place => {
    const place = expect(turn)
    if (place.state === 'expected') put(place, mayStart(place.person, place.client) ? 'running' : 'waiting')
    if (place.state === 'hurried') put(place, 'running')
    return place
  }
  return {
    admits(person, by) {
      const client = by && clientKey(by)
      return mayStart(person, client) || mayWait(person, client)
    },
    enter(turn, tx) {
      enter(turn)
      tx.afterUndo(() => leave(turn.id))
    },
    expect(turn) {
      if (turn.publicFor !== undefined) expect(turn)
    },
    async waitForPlace(turn, signal) {
      if (turn.publicFor === undefined) return false
      const place = enter(turn)
      if (place.state === 'running' || signal.aborted) return false
      if (closed) return true
      await new Promise<void>((resolve) => {
        place.go = resolve
        signal.addEventListener('abort', () => resolve(), { once: true })
      })
      return true
    },
    hurry(session) {
      for (const place of places.values()) {
        if (place.session !== session) continue
        if (place.state === 'waiting') put(place, 'running')
        if (place.state === 'expected') put(place, 'hurried')
      }
    },
    left: leave,
    close() {
      closed = true
      for (const place of places.values()) if (place.state === 'waiting') place.go()
    },
  }
}

/** Counts the turns that run and wait, of all people, of each, and of those of each client. */
function createCounts({ atOnce, perPerson, waiting }: PublicTurnLimits) {
  const all: Count = { running: 0, waiting: 0 }
  const own = new Map<string, Count>()
  const of = (whose: string): Readonly<Count> => own.get(whose) ?? { running: 0, waiting: 0 }
  /** One person may write in several conversations at once, and still leaves places to others. */
  const waitingForOne = Math.ceil(waiting / 2)
  const runningForOneClient = Math.ceil(atOnce / 2)
  /** Nobody but the operator says how many clients there are. */
  const [runningForClients, waitingForClients] = [atOnce, waiting].map((all) => Math.ceil((all * 3) / 4)) as [
    number,
    number,
  ]
  return {
    all: all as Readonly<Count>,
    mayStart: (person: string, client: string | undefined): boolean =>
      all.running < atOnce &&
      of(person).running < perPerson &&
      (client === undefined || (of(client).running < runningForOneClient && of(CLIENTS).running < runningForClients)),
    mayWait: (person: string, client: string | undefined): boolean =>
      all.waiting < waiting &&
      of(person).waiting < waitingForOne &&
      (client === undefined || (of(client).waiting < waitingForOne && of(CLIENTS).waiting < waitingForClients)),
    count({ person, client, state }: Place, more: 1 | -1): void {
      if (state !== 'running' && state !== 'waiting') return
      all[state] += more
      for (const whose of client === undefined ? [person] : [person, client, CLIENTS]) {
        const mine = { ...of(whose) }
        mine[state] += more
        if (mine.running + mine.waiting > 0) own.set(whose, mine)
        else own.delete(whose)
      }
    },
  }
}

/** Stands for all clients; no key of a sender, and no client's, is like it. */
const CLIENTS = ' '

/** No key of a sender begins so. */
function clientKey(namespace: Namespace): string {
  return ` ${namespace}`
}
